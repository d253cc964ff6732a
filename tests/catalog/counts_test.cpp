// Parameters and states of the catalog against numbers that the references or the papers give.
#include <gtest/gtest.h>

#include "catalog/mixer_entry.h"
#include "core/config.h"

namespace mneme::catalog {
namespace {

struct Count {
  const char* mixer;
  std::int64_t width, length;
  const char* options;  // JSON
  std::int64_t parameters;
  std::int64_t state = -1;  // -1: not given
};

const MixerEntry& entry_of(std::string_view name) {
  for (const MixerEntry& entry : state_mixer_catalog())
    if (entry.name == name) return entry;
  return find_mixer(name);
}

// mamba, s4d and nru at widths 8 and 64: paper B's Table 8 without the maps around the mixer.
const Count kCounts[] = {
    {"attention", 64, 64, "{}", 16640, 2 * 64 * 64},
    {"attention", 64, 64, R"({"conv_on": "kv"})", 16640 + 2 * 4 * 64, 2 * 64 * 64 + 2 * 2 * 64},
    {"hyena", 64, 64, "{}", 30400, 64 * 64 + 2 * 3 * 64},
    {"based", 64, 64, R"({"feature_dim": 8})", 9216, 65 * (1 + 8 + 36)},
    {"base_conv", 64, 64, "{}", 4416, 2 * 64},
    // The reference counts its frozen position features too, 3 * 64 more.
    {"base_conv", 64, 64, R"({"kernel_size": -1})", 5504 - 192, 64 * 64},
    {"base_conv", 64, 64, R"({"kernel_size": -1, "implicit_long_conv": false})", 8256, 64 * 64},
    {"rwkv4", 64, 64, "{}", 4 * 64 * 64 + 5 * 64, 4 * 64},
    {"rwkv4_channel_mix", 64, 64, "{}", 9 * 64 * 64 + 2 * 64, 64},
    {"rwkv5", 64, 64, "{}", 5 * 64 * 64 + 8 * 64, 64 * 64 + 64},
    {"rwkv7", 64, 64, "{}", 29504, 64 * 64 + 64},
    {"deltanet", 64, 64, "{}", 17312, 2 * 32 * 32 + 3 * 3 * 64},
    {"deltanet", 64, 64, R"({"use_gate": true})", 17312 + 64 * 64},
    {"gated_deltanet", 64, 64, "{}", 34116, 2 * 32 * 64 + 3 * (2 * 64 + 128)},
    {"gated_deltanet", 64, 64, R"({"use_gate": false})", 25924},
    {"deltaproduct", 64, 64, "{}", 47300},
    {"gla", 64, 64, R"({"num_heads": 2})", 17984, 2 * 16 * 32},
    {"retnet", 64, 64, R"({"num_heads": 2})", 32832, 2 * 32 * 64},
    {"linear_attention", 64, 64, R"({"num_heads": 2})", 4 * 64 * 64 + 32, 2 * 32 * 32},
    {"mlp", 64, 64, "{}", 33088, 0},
    {"glu", 64, 64, R"({"hidden_mult": 2})", 3 * 2 * 64 * 64 + 5 * 64, 0},
    {"mamba", 8, 64, R"({"d_state": 64})", 3600, 16 * 64 + 16 * 3},
    {"mamba", 64, 64, R"({"d_state": 64})", 51072},
    {"mamba", 10, 64, R"({"d_state": 256})", 16140},
    {"mamba2", 64, 64, "{}", 43142, 128 * 128 + (128 + 256) * 3},
    {"mamba2", 128, 64, "{}", 134412},
    {"s4d", 8, 64, "{}", 1184, 8 * 64},
    {"s4d", 64, 64, "{}", 16640},
    {"s4d", 10, 64, R"({"d_state": 2400})", 48240},
    {"s4", 1174, 64, "{}", 3061792, 1174 * 64},
    {"ids4", 256, 64, R"({"d_state": 128})", 4293249, 128 * 128},
    {"ids4", 255, 64, R"({"d_state": 110})", 3179196},
    {"h3", 64, 64, R"({"head_dim": 2})", 31104, 64 * 64 + 64 * 2 * 64},
    {"h3", 128, 512, R"({"d_state": 512, "head_dim": 2})", 295680},
    {"nru", 1, 64, R"({"variant": "table8", "hidden_size": 8})", 3205 - 9, 8 + 64},
    {"nru", 1, 64, R"({"variant": "table8", "hidden_size": 64})", 17093 - 65},
    {"rnn", 64, 64, "{}", 64 * (64 + 64 + 2), 64},
    {"lstm", 64, 64, "{}", 4 * 64 * (64 + 64 + 2), 2 * 64},
    {"gru", 64, 64, "{}", 3 * 64 * (64 + 64 + 2), 64},
    {"transformer", 8, 64, "{}", 4 * 64 + 4 * 8 + 2 * 8 * 128 + 128 + 8 + 4 * 8, 2 * 8 * 64},
};

TEST(Counts, AreThoseOfTheReferences) {
  for (const Count& count : kCounts) {
    const MixerEntry& entry = entry_of(count.mixer);
    const ConfigValue table = config_from_json(Json::parse(count.options), "test");
    const Options options = resolve(entry.options, &table, entry.name);
    const MixerContext context{.width = count.width, .length = count.length};
    EXPECT_EQ(entry.parameters(context, options), count.parameters) << count.mixer << " " << count.options;
    if (count.state < 0) continue;
    EXPECT_EQ(entry.state(context, options), count.state) << count.mixer << " " << count.options;
  }
}

// fla rounds halves to even: 2.5 becomes 2 times 32 at width 1024.
TEST(Counts, RanksOfRwkv7AreRoundedAsInTheReference) {
  const MixerEntry& entry = find_mixer("rwkv7");
  const Options options = defaults(entry.options, "rwkv7");
  const std::int64_t D = 1024, decay = 64, a = 64, gate = 160, v = 64;
  const std::int64_t first = 4 * D * D + 13 * D + 2 * D * (decay + a + gate);
  EXPECT_EQ(entry.parameters({.width = D, .length = 8, .layer = 0, .layers = 2}, options), first);
  EXPECT_EQ(entry.parameters({.width = D, .length = 8, .layer = 1, .layers = 2, .earlier = 1}, options),
            first + 2 * D * v + D);
}

}  // namespace
}  // namespace mneme::catalog
