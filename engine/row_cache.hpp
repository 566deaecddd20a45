// Kernel rows kept in memory, the least recently used given up first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "row_source.hpp"

namespace mercer {

template <class T>
class RowCache {
public:
    RowCache(Index n, std::int64_t bytes)
        : width_(padded(n)),
          capacity_(std::min<Index>(n, bytes / (width_ * static_cast<Index>(sizeof(T))))),
          slot_of_(static_cast<std::size_t>(n), -1) {}

    const T* find(Index row) const {
        const Index slot = slot_of_[static_cast<std::size_t>(row)];
        return slot < 0 ? nullptr : slots_[static_cast<std::size_t>(slot)].values;
    }

    void touch(Index row, std::int64_t now) {
        slots_[static_cast<std::size_t>(slot_of_[static_cast<std::size_t>(row)])].used = now;
    }

    // Room for a row, or nullptr when everything is in use by the present round.
    T* reserve(Index row, std::int64_t now) {
        Index slot = -1;
        if (!free_.empty()) {
            slot = free_.back();
            free_.pop_back();
        } else if (static_cast<Index>(slots_.size()) < capacity_) {
            slot = static_cast<Index>(slots_.size());
            slots_.push_back({next_room(), -1, 0});
        } else {
            slot = oldest(now);
            if (slot < 0) return nullptr;
            slot_of_[static_cast<std::size_t>(slots_[static_cast<std::size_t>(slot)].row)] = -1;
        }
        Slot& taken = slots_[static_cast<std::size_t>(slot)];
        taken.row = row;
        taken.used = now;
        slot_of_[static_cast<std::size_t>(row)] = slot;
        return taken.values;
    }

    void release(Index row) {
        const Index slot = slot_of_[static_cast<std::size_t>(row)];
        slots_[static_cast<std::size_t>(slot)].row = -1;
        slot_of_[static_cast<std::size_t>(row)] = -1;
        free_.push_back(slot);
    }

private:
    struct Slot {
        T* values;
        Index row;
        std::int64_t used;
    };

    // Rows lie side by side in slabs, which are only asked for when needed.
    T* next_room() {
        constexpr Index slab_bytes = Index(1) << 20;
        const Index rows = std::max<Index>(1, slab_bytes / (width_ * static_cast<Index>(sizeof(T))));
        const Index place = static_cast<Index>(slots_.size()) % rows;
        if (place == 0) slabs_.emplace_back(rows * width_);
        return slabs_.back().data() + place * width_;
    }

    // Sorted once for many evictions: the order only changes from round to round.
    Index oldest(std::int64_t now) {
        if (queue_round_ != now) {
            queue_round_ = now;
            queue_.clear();
            for (Index s = 0; s < static_cast<Index>(slots_.size()); ++s)
                if (slots_[static_cast<std::size_t>(s)].used < now) queue_.push_back(s);
            std::sort(queue_.begin(), queue_.end(), [&](Index a, Index b) {
                const auto ua = slots_[static_cast<std::size_t>(a)].used, ub = slots_[static_cast<std::size_t>(b)].used;
                return ua != ub ? ua > ub : a > b;
            });
        }
        while (!queue_.empty()) {
            const Index slot = queue_.back();
            queue_.pop_back();
            if (slots_[static_cast<std::size_t>(slot)].used < now) return slot;
        }
        return -1;
    }

    Index width_, capacity_;
    std::vector<Slot> slots_;
    std::vector<Buffer<T>> slabs_;
    std::vector<Index> slot_of_, free_, queue_;
    std::int64_t queue_round_ = -1;
};

}  // namespace mercer
