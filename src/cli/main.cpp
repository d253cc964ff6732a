#include "cli/app.h"
#include "cli/terminal/output.h"

int main(int argc, char** argv) {
  mneme::cli::outlive_readers();
  return mneme::cli::run_command_line(argc, argv);
}
