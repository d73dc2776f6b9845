#!/usr/bin/env bash
# make-rate-clips.sh FIXTURES FOLDER [WIDTHxHEIGHT [NAME...]]: makes the clips by which rate control is judged on hard content, from
# the real clips in FIXTURES (scripts/fetch-fixtures.sh): NAME.y4m in FOLDER, 25 frames per second. The default size is 320x180, and
# the default clips are all but the last:
#   trailer: black, a slow fade-in, scenes with cuts, a flash, a crossfade, a fade-out, black, a fade-in again
#   fades:   scenes that fade in from black and out to it
#   flashes: a moving scene with a white picture now and then
#   cuts:    a cut every second or half-second, from scenes that are easy to scenes that are hard
#   black:   black with short scenes between
#   sudden:  two seconds of black, then a scene with grain
#   short:   some of each, six seconds
# Prints the names of the clips. Files that exist are kept.
set -eu
[ $# -ge 2 ] || { echo "usage: make-rate-clips.sh FIXTURES FOLDER [WIDTHxHEIGHT [NAME...]]" >&2; exit 64; }
fixtures=$1
folder=$2
size=${3:-320x180}
shift $(($# < 3 ? $# : 3))
wanted=" ${*:-trailer fades flashes cuts black sudden} "
mkdir -p "$folder"

bbb=$fixtures/bigbuckbunny.mp4
bikes=$fixtures/bikes.mp4
phone=$fixtures/carphone_pristine.mp4

# Each scene: INPUT START LENGTH [FILTER]; black is a scene of INPUT "black".
scene() { scenes+=("$1|$2|$3|${4:-null}"); }

make() {
    local name=$1 inputs=() graph="" count=${#scenes[@]} index=0 each input start length filter
    [[ $wanted == *" $name "* ]] || return 0
    [ ! -s "$folder/$name.y4m" ] || { echo "$name"; return; }
    for each in "${scenes[@]}"; do
        IFS='|' read -r input start length filter <<<"$each"
        if [ "$input" = black ]; then
            inputs+=(-f lavfi -t "$length" -i "color=black:s=$size:r=25")
        else
            inputs+=(-ss "$start" -t "$length" -i "$input")
        fi
        graph+="[$index:v]fps=25,scale=${size/x/:}:flags=bicubic,setsar=1,format=yuv420p,$filter,setpts=PTS-STARTPTS[s$index];"
        index=$((index + 1))
    done
    for ((index = 0; index < count; index++)); do graph+="[s$index]"; done
    # One thread and exact flags: the same samples on every machine.
    ffmpeg -v error -nostdin -threads 1 -filter_threads 1 "${inputs[@]}" -filter_complex "${graph}concat=n=$count[v]" -map '[v]' \
        -pix_fmt yuv420p -f yuv4mpegpipe -y "$folder/$name.part"
    mv "$folder/$name.part" "$folder/$name.y4m"
    echo "$name"
}

flash() { echo "geq=lum='if(lt(mod(N,$1),$2),235,lum(X,Y))':cb='if(lt(mod(N,$1),$2),128,cb(X,Y))':cr='if(lt(mod(N,$1),$2),128,cr(X,Y))'"; }

scenes=()
scene black 0 1
scene "$bbb" 0 3 "fade=in:0:50"
scene "$bikes" 0 2
scene "$bikes" 4 1.5 "$(flash 20 2)"
scene "$phone" 0 2
scene "$bbb" 2 3 "fade=out:50:25"
scene black 0 1.5
scene "$bikes" 5 4 "fade=in:0:35"
scene "$bbb" 1 2
make trailer

scenes=()
scene "$bbb" 0 4 "fade=in:0:40,fade=out:75:25"
scene "$bikes" 0 4 "fade=in:0:40,fade=out:75:25"
scene "$phone" 0 3 "fade=in:0:12,fade=out:63:12"
scene "$bikes" 5 4 "fade=in:0:50:color=white,fade=out:85:15"
make fades

scenes=()
scene "$bikes" 0 6 "$(flash 37 1)"
scene "$bbb" 0 5 "$(flash 23 2)"
make flashes

scenes=()
scene "$phone" 0 1.5
scene "$bikes" 0 1
scene "$bbb" 0 1
scene "$phone" 1.5 1
scene "$bbb" 2 0.5
scene "$bikes" 3 0.5
scene "$phone" 2.5 0.5
scene "$bikes" 5 1
scene "$bbb" 3 2
scene "$bikes" 7 2
make cuts

scenes=()
scene black 0 2
scene "$bikes" 1 0.6
scene black 0 1
scene "$bbb" 1 2
scene black 0 0.4
scene "$phone" 0 1
scene black 0 2
scene "$bikes" 6 3
make black

scenes=()
scene black 0 2
scene "$bikes" 5 2 "noise=alls=8:allf=t:all_seed=1"
make sudden

scenes=()
scene black 0 0.4
scene "$bbb" 0 2 "fade=in:0:45"
scene "$bikes" 0 0.8
scene "$bikes" 4 0.8 "$(flash 20 2)"
scene black 0 0.4
scene "$phone" 0 1.2 "fade=out:20:10"
make short
