// The libva headers that vaenc is built against, one module for all of them.
#pragma once
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_drmcommon.h>
#include <va/va_enc_h264.h>
#include <va/va_enc_hevc.h>
#include <va/va_backend.h>
#include <va/va_str.h>
