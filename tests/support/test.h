#pragma once
/// What every test includes: doctest, the parts of the standard library that most sources use, and what tests of all
/// folders share. Tests include no part of it again; sources that fuzzers link do not include it, as they have no doctest.

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "data/core/precompiled.h"
#include "tests/support/error_of.h"
#include "tests/support/run.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"
