// SDL2, loaded when a window is first asked for: programs that show nothing need not have it.
#pragma once
#include <SDL2/SDL.h>
#include <stddef.h>

#define VAENC_SDL_FUNCTIONS(X) \
    X(SDL_CreateRenderer) \
    X(SDL_CreateTexture) \
    X(SDL_CreateWindow) \
    X(SDL_DestroyRenderer) \
    X(SDL_DestroyTexture) \
    X(SDL_DestroyWindow) \
    X(SDL_GetCurrentVideoDriver) \
    X(SDL_GetError) \
    X(SDL_InitSubSystem) \
    X(SDL_PollEvent) \
    X(SDL_QuitSubSystem) \
    X(SDL_RenderClear) \
    X(SDL_RenderCopy) \
    X(SDL_RenderPresent) \
    X(SDL_RenderSetLogicalSize) \
    X(SDL_SetHint) \
    X(SDL_SetMainReady) \
    X(SDL_SetWindowTitle) \
    X(SDL_SetYUVConversionMode) \
    X(SDL_UpdateNVTexture)

struct VaencSDL {
#define VAENC_MEMBER(name) __typeof__(&name) _Nullable name;
    VAENC_SDL_FUNCTIONS(VAENC_MEMBER)
#undef VAENC_MEMBER
};

/// Loads libSDL2 (once; any thread) and returns its functions; null, with the loader's words in `why` (size bytes),
/// where it is missing.
const struct VaencSDL *_Nullable vaenc_sdl(char *_Nonnull why, size_t size);

/// Has the X server's end call `action` on the calling thread, which is then left asleep for good, where Xlib would end the
/// program. To be called by the window's thread once it has its window.
void vaenc_sdl_when_display_is_lost(void (*_Nonnull action)(void *_Nullable), void *_Nullable context);
