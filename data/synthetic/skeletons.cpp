#include "data/synthetic/pen.h"

namespace knn {

namespace {

constexpr bool corner = true;

// clang-format off
const std::vector<Skeleton> all_skeletons = {
    // 0: round, narrow, begun at the right, closed with a loop inside
    {0, 4, {{{.55f, .02f}, {.22f, .14f}, {.06f, .5f}, {.2f, .88f}, {.5f, .99f}, {.82f, .85f}, {.95f, .5f}, {.8f, .13f}, {.5f, .02f}}}},
    {0, 2, {{{.6f, .03f}, {.35f, .1f}, {.2f, .5f}, {.28f, .9f}, {.5f, .98f}, {.7f, .85f}, {.78f, .5f}, {.7f, .15f}, {.5f, .04f}}}},
    {0, 2, {{{.8f, .14f}, {.5f, .02f}, {.16f, .2f}, {.06f, .6f}, {.3f, .96f}, {.7f, .9f}, {.94f, .55f}, {.86f, .2f}, {.6f, .06f}, {.42f, .12f}}}},

    // 1: a plain bar, a slanted bar, with an upstroke, with upstroke and base
    {1, 4, {{{.5f, .0f}, {.5f, .5f}, {.5f, 1.f}}}},
    {1, 3, {{{.64f, .0f}, {.52f, .5f}, {.38f, 1.f}}}},
    {1, 2, {{{.3f, .24f}, {.54f, .0f, corner}, {.54f, .5f}, {.53f, 1.f}}}},
    {1, 1, {{{.3f, .22f}, {.52f, .0f, corner}, {.52f, .5f}, {.52f, .98f}}, {{.26f, .99f}, {.5f, .98f}, {.78f, .98f}}}},

    // 2: straight base, with a loop at the bottom, with a curled tail
    {2, 4, {{{.1f, .25f}, {.3f, .05f}, {.62f, .03f}, {.8f, .24f}, {.62f, .55f}, {.32f, .82f}, {.08f, .97f, corner}, {.5f, .95f}, {.94f, .97f}}}},
    {2, 3, {{{.12f, .2f}, {.36f, .02f}, {.68f, .08f}, {.74f, .34f}, {.52f, .68f}, {.22f, .96f}, {.05f, .88f}, {.2f, .74f}, {.48f, .86f}, {.74f, .97f}, {.96f, .86f}}}},
    {2, 2, {{{.16f, .16f}, {.46f, .0f}, {.78f, .14f}, {.72f, .44f}, {.4f, .76f}, {.1f, .96f}, {.4f, .88f}, {.7f, .94f}, {.94f, .9f}}}},

    // 3: round, with a small loop in the waist, with a flat top
    {3, 4, {{{.14f, .14f}, {.42f, .01f}, {.76f, .1f}, {.76f, .34f}, {.4f, .47f, corner}, {.74f, .56f}, {.84f, .78f}, {.56f, .97f}, {.1f, .9f}}}},
    {3, 2, {{{.16f, .1f}, {.5f, .0f}, {.8f, .16f}, {.64f, .4f}, {.4f, .5f}, {.38f, .44f}, {.66f, .52f}, {.84f, .72f}, {.66f, .94f}, {.36f, 1.f}, {.1f, .88f}}}},
    {3, 1, {{{.16f, .04f}, {.5f, .04f}, {.8f, .03f, corner}, {.44f, .42f, corner}, {.78f, .54f}, {.84f, .78f}, {.52f, .98f}, {.12f, .88f}}}},

    // 4: open, with crossing bar; open and round; closed like a sail, in one stroke and in two
    {4, 4, {{{.2f, .04f}, {.14f, .3f}, {.14f, .56f, corner}, {.5f, .57f}, {.86f, .52f}}, {{.76f, .02f}, {.72f, .5f}, {.7f, 1.f}}}},
    {4, 3, {{{.16f, .06f}, {.12f, .4f}, {.3f, .58f}, {.6f, .52f}, {.8f, .36f}}, {{.84f, .0f}, {.78f, .5f}, {.72f, 1.f}}}},
    {4, 2, {{{.66f, .98f}, {.68f, .5f}, {.7f, .02f, corner}, {.4f, .32f}, {.08f, .64f, corner}, {.5f, .66f}, {.94f, .64f}}}},
    {4, 2, {{{.68f, .05f}, {.36f, .27f}, {.12f, .58f, corner}, {.44f, .55f}, {.8f, .53f}}, {{.7f, .03f}, {.72f, .5f}, {.7f, 1.f}}}},

    // 5: in two strokes with a flag, in one stroke, slanted like an S
    {5, 3, {{{.24f, .06f}, {.2f, .26f}, {.18f, .44f, corner}, {.5f, .38f}, {.82f, .54f}, {.82f, .82f}, {.5f, .98f}, {.1f, .9f}}, {{.24f, .06f}, {.5f, .05f}, {.88f, .03f}}}},
    {5, 3, {{{.86f, .04f}, {.56f, .03f}, {.3f, .06f, corner}, {.24f, .28f}, {.24f, .46f}, {.56f, .46f}, {.8f, .64f}, {.7f, .88f}, {.4f, .99f}, {.08f, .92f}}}},
    {5, 1, {{{.92f, .06f}, {.6f, .08f}, {.36f, .26f}, {.44f, .46f}, {.68f, .62f}, {.66f, .86f}, {.38f, .98f}, {.08f, .9f}}}},

    // 6: round belly, long neck, closed low
    {6, 4, {{{.68f, .01f}, {.4f, .22f}, {.2f, .56f}, {.24f, .88f}, {.54f, .99f}, {.8f, .82f}, {.72f, .6f}, {.44f, .54f}, {.24f, .7f}}}},
    {6, 2, {{{.56f, .0f}, {.34f, .3f}, {.24f, .64f}, {.34f, .94f}, {.6f, .96f}, {.74f, .78f}, {.6f, .64f}, {.4f, .7f}, {.3f, .84f}}}},
    {6, 2, {{{.82f, .08f}, {.5f, .08f}, {.18f, .4f}, {.14f, .78f}, {.46f, .98f}, {.82f, .84f}, {.82f, .56f}, {.5f, .46f}, {.18f, .62f}}}},

    // 7: plain, round shoulder, with a bar, with a hook at the left
    {7, 4, {{{.1f, .1f}, {.46f, .08f}, {.86f, .04f, corner}, {.66f, .42f}, {.44f, 1.f}}}},
    {7, 2, {{{.1f, .16f}, {.44f, .06f}, {.8f, .08f}, {.78f, .3f}, {.58f, .62f}, {.48f, 1.f}}}},
    {7, 2, {{{.12f, .08f}, {.5f, .08f}, {.86f, .06f, corner}, {.64f, .46f}, {.42f, 1.f}}, {{.32f, .5f}, {.6f, .5f}, {.84f, .48f}}}},
    {7, 2, {{{.12f, .24f}, {.14f, .06f, corner}, {.5f, .06f}, {.86f, .04f, corner}, {.72f, .5f}, {.64f, 1.f}}}},

    // 8: one stroke like an S that closes, two rings, narrow
    {8, 4, {{{.76f, .14f}, {.48f, .01f}, {.22f, .18f}, {.36f, .4f}, {.64f, .56f}, {.8f, .8f}, {.5f, .99f}, {.2f, .82f}, {.36f, .58f}, {.66f, .38f}, {.8f, .14f}}}},
    {8, 2, {{{.5f, .46f}, {.24f, .3f}, {.3f, .06f}, {.58f, .01f}, {.78f, .2f}, {.66f, .4f}, {.46f, .48f}, {.2f, .7f}, {.28f, .94f}, {.58f, .99f}, {.8f, .8f}, {.7f, .58f}, {.46f, .46f}}}},
    {8, 2, {{{.62f, .04f}, {.42f, .06f}, {.36f, .24f}, {.48f, .44f}, {.62f, .66f}, {.6f, .92f}, {.42f, .98f}, {.34f, .8f}, {.46f, .54f}, {.64f, .3f}, {.64f, .06f}}}},

    // 9: straight stem, curved stem, with a round hook below
    {9, 4, {{{.78f, .12f}, {.5f, .02f}, {.22f, .2f}, {.26f, .44f}, {.54f, .48f}, {.78f, .26f}, {.8f, .1f, corner}, {.76f, .5f}, {.68f, 1.f}}}},
    {9, 2, {{{.74f, .1f}, {.46f, .03f}, {.24f, .22f}, {.34f, .42f}, {.6f, .38f}, {.76f, .16f}, {.74f, .5f}, {.56f, .8f}, {.34f, 1.f}}}},
    {9, 2, {{{.78f, .14f}, {.5f, .01f}, {.2f, .16f}, {.22f, .42f}, {.5f, .5f}, {.78f, .3f}, {.82f, .12f}, {.82f, .6f}, {.66f, .92f}, {.4f, .98f}, {.18f, .86f}}}},
};
// clang-format on

}  // namespace

std::span<const Skeleton> skeletons() {
    return all_skeletons;
}

Stroke smooth(const Stroke& stroke, int steps) {
    Stroke result;
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
        const PenPoint &b = stroke[i], &c = stroke[i + 1];
        const PenPoint& a = i == 0 || b.corner ? b : stroke[i - 1];
        const PenPoint& d = i + 2 == stroke.size() || c.corner ? c : stroke[i + 2];
        for (int step = 0; step < steps; ++step) {
            const float t = static_cast<float>(step) / static_cast<float>(steps);
            const auto between = [t](float p, float q, float r, float s) {
                return q + 0.5f * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
            };
            result.push_back({between(a.x, b.x, c.x, d.x), between(a.y, b.y, c.y, d.y), false});
        }
    }
    if (!stroke.empty()) result.push_back(stroke.back());
    return result;
}

}  // namespace knn
