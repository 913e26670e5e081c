#pragma once
/// What `bench` measures of the CPU, for the layer above: it does not include cpu/.

#include "cpu/host/host.h"
#include "cpu/kernels/kernels.h"
#include "cpu/rerank/rerank.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "cpu/transform/transform.h"
