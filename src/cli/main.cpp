#include "cli/app.h"

int main(int argc, char** argv) { return mneme::cli::run_command_line(argc, argv); }
