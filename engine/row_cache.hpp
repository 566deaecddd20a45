// Kernel rows kept in memory, the least recently used given up first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "buffer.hpp"
#include "row_source.hpp"

namespace mercer {

template <class T>
class RowCache {
public:
    RowCache(Index n, std::int64_t bytes)
        : width_(padded(n)), capacity_(std::min(n, bytes / (width_ * entry_bytes))), slot_of_(n, -1) {}

    const T* find(Index row) const {
        const Index slot = slot_of_[row];
        return slot < 0 ? nullptr : slots_[slot].values;
    }

    void touch(Index row, std::int64_t now) { slots_[slot_of_[row]].used = now; }

    // Room for a row, or nullptr when everything is in use by the present round.
    T* reserve(Index row, std::int64_t now) {
        Index slot = -1;
        if (!free_.empty()) {
            slot = free_.back();
            free_.pop_back();
        } else if (slots_.size() < capacity_) {
            slot = slots_.size();
            slots_.push_back({next_room(), -1, 0});
        } else {
            slot = oldest(now);
            if (slot < 0) return nullptr;
            slot_of_[slots_[slot].row] = -1;
        }
        Slot& taken = slots_[slot];
        taken.row = row;
        taken.used = now;
        slot_of_[row] = slot;
        return taken.values;
    }

    void release(Index row) {
        const Index slot = slot_of_[row];
        slots_[slot].row = -1;
        slot_of_[row] = -1;
        free_.push_back(slot);
    }

private:
    static constexpr Index entry_bytes = sizeof(T);

    struct Slot {
        T* values;
        Index row;
        std::int64_t used;
    };

    // Rows lie side by side in slabs, which are only asked for when needed.
    T* next_room() {
        constexpr Index slab_bytes = Index(4) << 20;  // two large pages
        const Index rows = std::max<Index>(1, slab_bytes / (width_ * entry_bytes));
        const Index place = slots_.size() % rows;
        if (place == 0) slabs_.emplace_back(rows * width_);
        return slabs_.back().data() + place * width_;
    }

    // Sorted once for many evictions: the order only changes from round to round.
    Index oldest(std::int64_t now) {
        if (queue_round_ != now) {
            queue_round_ = now;
            queue_.clear();
            for (Index s = 0; s < slots_.size(); ++s)
                if (slots_[s].used < now) queue_.push_back(s);
            std::sort(queue_.begin(), queue_.end(), [&](Index a, Index b) {
                const auto ua = slots_[a].used, ub = slots_[b].used;
                return ua != ub ? ua > ub : a > b;
            });
        }
        while (!queue_.empty()) {
            const Index slot = queue_.back();
            queue_.pop_back();
            if (slots_[slot].used < now) return slot;
        }
        return -1;
    }

    Index width_, capacity_;
    Array<Slot> slots_;
    Array<Buffer<T>> slabs_;
    Array<Index> slot_of_, free_, queue_;
    std::int64_t queue_round_ = -1;
};

}  // namespace mercer
