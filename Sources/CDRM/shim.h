#pragma once
#include <xf86drm.h>
