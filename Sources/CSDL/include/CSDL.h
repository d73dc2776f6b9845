// SDL2, loaded when the first window is requested. Programs without a window do not need the library.
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

/// Loads libSDL2 once, from any thread, and returns its functions. Returns null if the library or a function is
/// missing, with the reason in `why` (a buffer of `size` bytes).
const struct VaencSDL *_Nullable vaenc_sdl(char *_Nonnull why, size_t size);

/// Sets the action for the end of the X server. If the connection is lost, `action` is called on the calling thread,
/// which then sleeps forever; Xlib would end the program instead. Call this function on the window's thread after the
/// window is created.
void vaenc_sdl_when_display_is_lost(void (*_Nonnull action)(void *_Nullable), void *_Nullable context);
