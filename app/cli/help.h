#pragma once
/// The texts of --help.

#include <string>

#include "app/cli/command.h"

namespace knn {

/// Of the whole program: what it does and its commands.
std::string program_help();

/// Of one command: its options by group.
std::string command_help(const Command& command);

}  // namespace knn
