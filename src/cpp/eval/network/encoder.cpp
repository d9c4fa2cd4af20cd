#include "eval/network/encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/error.h"
#include "base/rng.h"
#include "eval/network/gomoku_features.h"
#include "eval/network/half.h"

namespace pyengine {
namespace {

/// Two independent 64-bit lanes; each step is a bijection of the lane, so it loses no information.
class Hash128 {
 public:
  void add(std::uint64_t word) noexcept {
    low_ = std::rotl((low_ ^ word) * 0x9E3779B97F4A7C15U, 29);
    high_ = std::rotl((high_ + word) * 0xC2B2AE3D27D4EB4FU, 31) ^ (word >> 7);
  }
  void add(float value) noexcept { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  void add(const BoardBits& bits, std::size_t words) noexcept {
    for (std::size_t w = 0; w < words; ++w) add(bits.words[w]);
  }
  void finish(std::uint64_t (&key)[2]) const noexcept {
    key[0] = mixed(low_ ^ std::rotl(high_, 17));
    key[1] = mixed(high_ + 0x165667B19E3779F9U * low_);
  }

 private:
  /// The finaliser of MurmurHash3 (Appleby): every bit of x affects every bit of the result.
  static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDU;
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53U;
    return x ^ (x >> 33);
  }
  std::uint64_t low_ = 0x243F6A8885A308D3U;
  std::uint64_t high_ = 0x13198A2E03707344U;
};

bool is_value(PlaneKind kind) noexcept {
  return kind == PlaneKind::first_to_move || kind == PlaneKind::second_to_move ||
      kind == PlaneKind::mover_sign || kind == PlaneKind::ones || kind == PlaneKind::zeros;
}

float value_of(PlaneKind kind, int to_move) noexcept {
  switch (kind) {
    case PlaneKind::first_to_move:
      return to_move == 0 ? 1.0F : 0.0F;
    case PlaneKind::second_to_move:
      return to_move == 0 ? 0.0F : 1.0F;
    case PlaneKind::mover_sign:
      return to_move == 0 ? 1.0F : -1.0F;
    case PlaneKind::ones:
      return 1.0F;
    default:
      return 0.0F;
  }
}

/// Planes whose sets of points come from AnyPosition::stones(t).
bool reads_stones(PlaneKind kind) noexcept {
  return kind == PlaneKind::own || kind == PlaneKind::opp || kind == PlaneKind::first ||
      kind == PlaneKind::second || kind == PlaneKind::last;
}

bool reads_areas(PlaneKind kind) noexcept {
  return kind == PlaneKind::own_area || kind == PlaneKind::opp_area;
}

template <class T>
T element(float value) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return static_cast<std::int8_t>(value);
  } else {
    return to_half(value);
  }
}

}  // namespace

std::array<std::int64_t, 3> PlaneShape::dims() const noexcept {
  if (channels_last) return {rows, columns, channels};
  return {channels, rows, columns};
}

Encoder::Encoder(const ModelSpec& spec, const AnyGame& game) {
  validate(spec);
  const GameShape& board = game.shape();
  shape_ = {0, board.rows, board.columns, spec.layout == "NHWC"};
  board_columns_ = board.columns;
  drops_ = board.rows > 1 && board.num_actions == board.columns;
  std::vector<Plane> planes = parse_planes(spec.planes);
  // The default planes are those of the game, if it has any or has no stones.
  const bool has_own = game.traits().observation_shape[0] > 0 || !game.traits().has_stones;
  if (has_own && spec.has_default_planes()) planes = {{PlaneKind::observation}};
  if (std::any_of(planes.begin(), planes.end(),
                  [](const Plane& p) { return p.kind == PlaneKind::observation; })) {
    shape_.rows = game.traits().observation_shape[1];
    shape_.columns = game.traits().observation_shape[2];
  }
  for (const Plane& plane : planes) add(plane, game);
  shape_.channels = static_cast<int>(channels_.size());
  make_places(spec, game);
  make_dense_slots();
}

void Encoder::check(const Plane& plane, const AnyGame& game) const {
  const auto refuse = [&](const std::string& why) {
    throw ModelError("plane '" + to_string(plane) + "' of the model's spec does not fit the game " +
                     game.to_string() + ": " + why);
  };
  if (is_value(plane.kind)) return;
  if (plane.kind == PlaneKind::observation) {
    const std::array<int, 3> shape = game.traits().observation_shape;
    if (shape[0] == 0) {
      refuse(std::string("the game has no observation") +
             (game.traits().has_stones ? "" : "; give its states observation_tensor()"));
    }
    if (reads_observation_) refuse("it must occur only once");
    return;
  }
  if (!game.traits().has_stones) refuse("the game has no stones; use the plane 'observation'");
  if (plane.kind == PlaneKind::liberties && !game.traits().has_liberties)
    refuse("it has no liberties");
  if (reads_areas(plane.kind) && !game.traits().has_area) refuse("it has no area");
  if (plane.kind == PlaneKind::ko && !game.traits().has_ko) refuse("it has no ko rule");
  const GameShape& shape = game.shape();
  const bool reads_actions = plane.kind == PlaneKind::last || plane.kind == PlaneKind::legal;
  if (reads_actions && shape.num_actions >= 2 * shape.rows * shape.columns) {
    refuse("its actions are not points");
  }
  const bool has_reflections = shape.symmetry != SymmetryGroup::none;
  if (plane.kind == PlaneKind::gomoku && game.symmetries().count() > 1 && !has_reflections) {
    refuse("its symmetries are not reflections of the board");
  }
}

void Encoder::add(const Plane& plane, const AnyGame& game) {
  check(plane, game);
  if (plane.kind == PlaneKind::observation) return add_observation(game);
  if (is_value(plane.kind)) {
    channels_.push_back({Storage::value, static_cast<std::uint16_t>(values_.size())});
    values_.push_back(plane);
    return;
  }
  plies_ |= 1U << (reads_stones(plane.kind) ? plane.index : 0);
  if (plane.kind == PlaneKind::gomoku) {
    plies_ |= 2U;  // to find where the previous drop landed
    reads_gomoku_ = true;
    dense_planes_ = kGomokuFeatures;
    channels_.push_back({Storage::dense, static_cast<std::uint16_t>(plane.index)});
    return;
  }
  reads_areas_ |= reads_areas(plane.kind);
  channels_.push_back({Storage::set, static_cast<std::uint16_t>(sets_.size())});
  sets_.push_back(plane);
}

void Encoder::add_observation(const AnyGame& game) {
  reads_observation_ = true;
  const int count = game.traits().observation_shape[0];
  if (game.traits().has_binary_observation && shape_.points() <= kMaxPoints) {
    observation_set_ = sets_.size();
    observation_sets_ = count;
    for (int c = 0; c < count; ++c) {
      channels_.push_back({Storage::set, static_cast<std::uint16_t>(sets_.size())});
      sets_.push_back({PlaneKind::observation});
    }
    return;
  }
  dense_planes_ = count;
  for (int c = 0; c < dense_planes_; ++c) {
    channels_.push_back({Storage::dense, static_cast<std::uint16_t>(c)});
  }
}

void Encoder::make_places(const ModelSpec& spec, const AnyGame& game) {
  const Symmetries& symmetries = game.symmetries();
  const int count = std::max(1, symmetries.count());
  const auto points = static_cast<std::size_t>(shape_.points());
  for (int k = 0; k < count; ++k) {
    std::vector<std::uint16_t> place(points);
    std::iota(place.begin(), place.end(), std::uint16_t{0});
    if (k > 0) {
      const auto& moved = symmetries.point[static_cast<std::size_t>(k)];
      if (moved.size() != points) {
        throw ModelError("the symmetries of " + game.to_string() + " move " +
                         std::to_string(moved.size()) + " points, but its observation has " +
                         std::to_string(points));
      }
      place = moved;
    }
    if (spec.rows == "bottom_up") {
      const int columns = shape_.columns;
      for (auto& p : place) {
        p = static_cast<std::uint16_t>((shape_.rows - 1 - p / columns) * columns + p % columns);
      }
    }
    place_.push_back(std::move(place));
  }
}

void Encoder::make_dense_slots() {
  for (std::size_t k = 0; k < place_.size(); ++k) {
    std::vector<std::uint16_t> slots;
    for (const Channel& channel : channels_) {
      std::uint16_t slot = channel.slot;
      if (channel.storage == Storage::dense && reads_gomoku_) {
        slot = static_cast<std::uint16_t>(
            gomoku_source(static_cast<GomokuFeature>(slot), static_cast<int>(k)));
      }
      slots.push_back(slot);
    }
    dense_slot_.push_back(std::move(slots));
  }
}

void Encoder::open(const AnyPosition& position, const ActionList& legal, PlaneStack& planes) const {
  Stones stones;
  for (unsigned t = 0; t < kMaxPlyPlanes; ++t) {
    if (((plies_ >> t) & 1U) != 0) {
      position.stones(static_cast<int>(t), stones[2 * t], stones[2 * t + 1]);
    }
  }
  Areas areas;
  if (reads_areas_) position.area_points(areas[0], areas[1]);
  planes.bits.resize(sets_.size());
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    open_set(sets_[i], position, legal, stones, areas, planes.bits[i]);
  }
  if (observation_sets_ > 0) open_observation_sets(position, planes);
  planes.fill.resize(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    planes.fill[i] = value_of(values_[i].kind, position.to_move());
  }
  if (dense_planes_ > 0) open_dense(position, stones, planes);
  make_key(stones, planes);
}

void Encoder::open_set(const Plane& plane, const AnyPosition& position, const ActionList& legal,
                       const Stones& stones, const Areas& areas, BoardBits& bits) const {
  const auto t = static_cast<unsigned>(plane.index);
  const auto mover = static_cast<unsigned>(position.to_move() & 1);
  const auto add_point = [&](int point) {
    if (point >= 0) bits.set(point);
  };
  bits = {};
  switch (plane.kind) {
    case PlaneKind::own:
      bits = stones[2 * t + mover];
      break;
    case PlaneKind::opp:
      bits = stones[2 * t + 1 - mover];
      break;
    case PlaneKind::first:
      bits = stones[2 * t];
      break;
    case PlaneKind::second:
      bits = stones[2 * t + 1];
      break;
    case PlaneKind::empty: {
      const BoardBits taken = stones[0] | stones[1];
      for (int p = 0; p < shape_.points(); ++p) {
        if (!taken.test(p)) bits.set(p);
      }
      break;
    }
    case PlaneKind::last:
      add_point(
          point_of(position.last_move(plane.index), stones[2 * t] | stones[2 * t + 1], false));
      break;
    case PlaneKind::legal:
      for (const ActionId action : legal) {
        add_point(point_of(action, stones[0] | stones[1], true));
      }
      break;
    case PlaneKind::liberties:
      position.liberties(plane.or_more ? -plane.index : plane.index, bits);
      break;
    case PlaneKind::own_area:
      bits = areas[mover];
      break;
    case PlaneKind::opp_area:
      bits = areas[1 - mover];
      break;
    case PlaneKind::ko:
      add_point(point_of(position.ko_point(), stones[0], true));
      break;
    default:
      break;
  }
}

int Encoder::point_of(Action action, const BoardBits& stones, bool above) const noexcept {
  if (!drops_) return action >= 0 && action < shape_.points() ? action : -1;
  if (action < 0) return -1;
  for (int row = 0; row < shape_.rows; ++row) {
    const int point = row * board_columns_ + action;
    if (stones.test(point)) return above ? point - board_columns_ : point;
  }
  return above ? (shape_.rows - 1) * board_columns_ + action : -1;
}

void Encoder::open_dense(const AnyPosition& position, const Stones& stones,
                         PlaneStack& planes) const {
  planes.dense.resize(static_cast<std::size_t>(dense_planes_ * shape_.points()));
  if (reads_observation_) {
    position.observation(planes.dense);
    return;
  }
  GomokuBoard board{shape_.rows, shape_.columns, stones[0], stones[1]};
  board.last = point_of(position.last_move(0), stones[0] | stones[1], false);
  board.previous = point_of(position.last_move(1), stones[2] | stones[3], false);
  gomoku_features(board, planes.dense);
}

void Encoder::open_observation_sets(const AnyPosition& position, PlaneStack& planes) const {
  const auto points = static_cast<std::size_t>(shape_.points());
  const auto sets = static_cast<std::size_t>(observation_sets_);
  planes.dense.resize(sets * points);  // as scratch memory: there are no dense planes
  position.observation(planes.dense);
  for (std::size_t i = 0; i < planes.dense.size(); ++i) {
    if (planes.dense[i] == 0.0F) continue;
    planes.bits[observation_set_ + i / points].set(static_cast<int>(i % points));
  }
}

void Encoder::make_key(const Stones& stones, PlaneStack& planes) const noexcept {
  const std::size_t words = (static_cast<std::size_t>(shape_.points()) + 63) / 64;
  Hash128 hash;
  for (const BoardBits& bits : planes.bits) hash.add(bits, words);
  for (const float value : planes.fill) hash.add(value);
  if (reads_observation_ && dense_planes_ > 0) {
    for (const float value : planes.dense) hash.add(value);
  } else if (reads_gomoku_) {
    // All features are determined by the stones and the distance of the last two moves.
    hash.add(stones[0], words);
    hash.add(stones[1], words);
    const auto distance = static_cast<std::size_t>(GomokuFeature::distance);
    hash.add(planes.dense[distance * static_cast<std::size_t>(shape_.points())]);
  }
  hash.finish(planes.key);
}

void Encoder::write(const PlaneStack& planes, int symmetry, ElementType type,
                    std::byte* row) const noexcept {
  const auto write_elements = [&](auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    shape_.channels_last ? write_as<T, true>(planes, symmetry, out)
                         : write_as<T, false>(planes, symmetry, out);
  };
  switch (type) {
    case ElementType::float32:
      return write_elements(reinterpret_cast<float*>(row));
    case ElementType::float16:
      return write_elements(reinterpret_cast<std::uint16_t*>(row));
    case ElementType::int8:
      return write_elements(reinterpret_cast<std::int8_t*>(row));
  }
}

template <class T, bool kChannelsLast>
void Encoder::write_as(const PlaneStack& planes, int symmetry, T* row) const noexcept {
  const auto points = static_cast<std::size_t>(shape_.points());
  const std::size_t channels = channels_.size();
  const std::size_t step = kChannelsLast ? channels : 1;  // from one point to the next
  const std::uint16_t* place = place_[static_cast<std::size_t>(symmetry)].data();
  const std::uint16_t* dense_slot = dense_slot_[static_cast<std::size_t>(symmetry)].data();
  const T one = element<T>(1.0F);
  std::memset(row, 0, points * channels * sizeof(T));
  for (std::size_t c = 0; c < channels; ++c) {
    T* plane = row + (kChannelsLast ? c : c * points);
    const Channel channel = channels_[c];
    if (channel.storage == Storage::set) {
      planes.bits[channel.slot].for_each(
          [&](int p) { plane[place[static_cast<std::size_t>(p)] * step] = one; });
    } else if (channel.storage == Storage::value) {
      const float value = planes.fill[channel.slot];
      if (value == 0.0F) continue;
      for (std::size_t p = 0; p < points; ++p) plane[p * step] = element<T>(value);
    } else {
      const float* dense = planes.dense.data() + dense_slot[c] * points;
      for (std::size_t p = 0; p < points; ++p) plane[place[p] * step] = element<T>(dense[p]);
    }
  }
}

int random_symmetry(const PlaneStack& planes, std::uint64_t seed, int symmetries) {
  if (symmetries <= 1) return 0;
  Rng rng(seed ^ planes.key[0], planes.key[1]);
  return static_cast<int>(rng.below(static_cast<std::uint32_t>(symmetries)));
}

}  // namespace pyengine
