#include "app/report/drawing.h"
#include "data/core/format.h"

namespace knn {

namespace {

constexpr double capitals = 0.72;  // of a sans-serif font's size

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : harmless(text)) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else
            result += c;
    }
    return result;
}

std::string color(int value) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text = "#";
    for (int shift = 20; shift >= 0; shift -= 4)
        text += digits[value >> shift & 15];
    return text;
}

/// ` name="12.34"`.
std::string attribute(const char* name, double value) {
    return std::string(" ") + name + "=\"" + fixed(value, 2) + '"';
}

struct Writer {
    std::string text;

    void operator()(const DrawnLine& line) {
        text += "<line" + attribute("x1", line.x1) + attribute("y1", line.y1) + attribute("x2", line.x2) +
                attribute("y2", line.y2) + attribute("stroke-width", line.width) + " stroke=\"" +
                color(line.color) + "\" stroke-linecap=\"round\"/>\n";
    }
    void operator()(const DrawnBox& box) {
        text += "<rect" + attribute("x", box.x) + attribute("y", box.y) + attribute("width", box.width) +
                attribute("height", box.height) + " fill=\"" + color(box.color) + "\"/>\n";
    }
    void operator()(const DrawnDisc& disc) {
        text += "<circle" + attribute("cx", disc.x) + attribute("cy", disc.y) + attribute("r", disc.radius) +
                " fill=\"" + color(disc.color) + "\"/>\n";
    }
    void operator()(const DrawnText& words) {
        const bool center = words.upward || words.anchor == Anchor::center;
        const double y = words.upward ? words.y + words.height / 2 : words.y;
        text += "<text" + attribute("x", words.x) + attribute("y", y) +
                attribute("font-size", words.height / capitals) + " fill=\"" + color(words.color) +
                "\" text-anchor=\"" +
                (center                          ? "middle"
                 : words.anchor == Anchor::right ? "end"
                                                 : "start") +
                '"';
        if (words.upward)
            text += " transform=\"rotate(-90 " + fixed(words.x, 2) + ' ' + fixed(words.y, 2) + ")\"";
        text += '>' + escaped(words.words) + "</text>\n";
    }
};

}  // namespace

std::string svg_of(const Drawing& drawing) {
    const std::string width = fixed(drawing.width, 0), height = fixed(drawing.height, 0);
    Writer writer{"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
                  "\" viewBox=\"0 0 " + width + ' ' + height +
                  "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"};
    for (const Shape& shape : drawing.shapes)
        std::visit(writer, shape);
    return writer.text + "</svg>\n";
}

}  // namespace knn
