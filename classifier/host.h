#pragma once
/// The host's threads, what its backend computes of single images, and what `bench` measures of it, for app/, which does not
/// include cpu/.

#include "cpu/host/host.h"
#include "cpu/host/threads.h"
#include "cpu/kernels/kernels.h"
#include "cpu/rerank/rerank.h"
#include "cpu/search.h"
#include "cpu/serial/serial.h"
#include "cpu/transform/transform.h"
#include "cpu/vectors/real_rows.h"

namespace knn {

using cpu::available_bytes;
using cpu::available_threads;
using cpu::describe;
using cpu::features;
using cpu::for_rows;
using cpu::lists_per_piece;
using cpu::magnitude_of;
using cpu::piece_for_all;
using cpu::require_memory;
using cpu::Team;
using cpu::threads_or_all;

}  // namespace knn
