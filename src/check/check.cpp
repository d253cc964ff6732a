#include "check/check.h"

namespace mneme::check {

const std::vector<Check>& mixer_checks() {
  static const std::vector<Check> list = {
      {"shape", "keeps batch and length, also at L = 1, odd L and L shorter than any convolution", check_shape},
      {"causality", "no token changes any bit of earlier outputs, unless the options look ahead", check_causality},
      {"order", "the order of earlier tokens matters if the catalog says so", check_order},
      {"repeat", "the same input gives the same output, whatever the module saw in between", check_repeat},
      {"gradient", "gradients of the composed path match finite differences in double precision", check_gradient},
      {"kernels", "kernels and composed operations agree in outputs and every gradient", check_kernels},
      {"step", "stepping token by token gives the same outputs as the whole sequence", check_step},
      {"state", "the state has as many numbers as the catalog declares", check_state},
      {"parameters", "the number of parameters matches the catalog's formula", check_parameters},
      {"file", "saving and loading a safetensors file keeps parameters and outputs to the bit", check_file},
      {"memory", "memory of forward and backward grows no faster than the length", check_memory},
  };
  return list;
}

const Check& cost_check() {
  static const Check check = {"cost", "time grows linearly with the length if the state does not grow", check_cost};
  return check;
}

Finding run_check(const Check& check, const Subject& subject) {
  try {
    return check.examine(subject);
  } catch (const c10::Error& error) {
    return {Finding::Verdict::failed, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {Finding::Verdict::failed, error.what()};
  }
}

}  // namespace mneme::check
