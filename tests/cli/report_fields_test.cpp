/// docs/report.md has every field of every JSON and every column of every CSV that a command writes, and no others.

#include <regex>

#include "tests/cli/commands.h"

using namespace knn::test;

namespace {

/// A table of the page: its names in order, and after "?" those that may be missing. A row may have a table of the parts
/// instead of a name, or below it: "[head](#head)".
struct FieldTable {
    Words names;
    std::set<std::string> optional;
    std::vector<std::pair<std::string, std::string>> parts;  ///< below a name, which may be empty: a part
};

/// The tables by "SECTION/SUBSECTION".
std::map<std::string, FieldTable> documented() {
    std::map<std::string, FieldTable> tables;
    std::string section, subsection;
    const std::regex row(R"(\| (`([^`?]+)(\?)?`|\[head\]\(#head\)) \|(.*)\|)"),
        link(R"( \[\w+\]\(#(\w+)\) )");
    for (const std::string& line : lines_of(read_file(MNIST_KNN_SOURCE "/docs/report.md"))) {
        std::smatch found, part;
        if (line.starts_with("### ")) subsection = line.substr(4);
        if (line.starts_with("## ")) section = line.substr(3), subsection = "";
        if (!std::regex_match(line, found, row)) continue;
        FieldTable& table = tables[section + '/' + subsection];
        const std::string name = found[2], meaning = found[4];
        if (name.empty()) {
            table.parts.emplace_back("", "head");
            continue;
        }
        table.names += Words{name};
        if (found[3].matched) table.optional.insert(name);
        if (std::regex_match(meaning, part, link)) table.parts.emplace_back(name + '.', part[1]);
    }
    return tables;
}

/// With the tables of its parts.
FieldTable whole(FieldTable table, const std::map<std::string, FieldTable>& tables) {
    for (const auto& [below, part] : table.parts) {
        const FieldTable& fields = tables.at("Parts that several commands have/" + part);
        for (const std::string& name : fields.names) {
            table.names += Words{below + name};
            if (fields.optional.contains(name)) table.optional.insert(below + name);
        }
    }
    return table;
}

/// The paths of all members: "dataset", "dataset.name", "images[].neighbors[]", "[].votes.LABEL".
void add_fields(const json& value, const std::string& path, std::set<std::string>& fields) {
    if (!path.empty()) fields.insert(path);
    if (value.is_array())
        for (const json& element : value)
            if (element.is_object()) add_fields(element, path + "[]", fields);
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
        const bool is_label = std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
        add_fields(member, (path.empty() ? "" : path + '.') + (is_label ? "LABEL" : key), fields);
    }
}

/// "a.b" of "a.b.c", "a[]" of "a[].b", "a" of "a[]"; empty of "a".
std::string parent_of(const std::string& field) {
    if (field.ends_with("[]")) return field.substr(0, field.size() - 2);
    const std::size_t point = field.rfind('.');
    return point == std::string::npos ? "" : field.substr(0, point);
}

void check_json(const std::set<std::string>& fields, const FieldTable& table) {
    const std::set<std::string> names(table.names.begin(), table.names.end());
    const auto begins_one =
        [&](const std::string& field) {  // an object or an array of which the page has the members
            return std::ranges::any_of(names, [&](const std::string& name) {
                return name.starts_with(field + '.') || name.starts_with(field + "[]");
            });
        };
    for (const std::string& field : fields) {
        CAPTURE(field);
        CHECK((names.contains(field) || begins_one(field)));
    }
    for (const std::string& name : names) {
        const std::string parent = parent_of(name);
        CAPTURE(name);
        if (!table.optional.contains(name) && !name.ends_with("[]"))
            CHECK((fields.contains(name) || !(parent.empty() || fields.contains(parent))));
    }
}

}  // namespace

TEST_CASE_FIXTURE(Place, "docs/report.md describes every field of every JSON and every column of every CSV") {
    const auto tables = documented();
    std::set<std::string> written;  // tables
    for (const Command& one : commands()) {
        const std::string section = one.words[0];
        if (!can_run(one)) continue;
        fs::create_directory(folder / "out");
        output_of(plain(one.words + one.outputs));
        std::set<std::string> fields;  // of all JSON of this command
        for (const auto& entry : fs::recursive_directory_iterator(folder / "out")) {
            const std::string ending = entry.path().extension().string();
            const std::string content = entry.is_regular_file() ? read_file(entry.path()) : "";
            if (ending == ".json") add_fields(json::parse(content), "", fields);
            if (ending != ".csv") continue;
            const std::string heading = content.substr(0, content.find('\n'));
            CAPTURE(section);
            CAPTURE(heading);
            const auto has_columns = [&](const auto& table) {
                return table.first.starts_with(section + "/CSV") &&
                       csv_rows(heading + '\n')[0] == table.second.names;
            };
            const auto found = std::ranges::find_if(tables, has_columns);
            REQUIRE(found != tables.end());
            written.insert(found->first);
        }
        const auto is_json = [&](const auto& table) { return table.first.starts_with(section + "/JSON"); };
        if (const auto found = std::ranges::find_if(tables, is_json); !fields.empty()) {
            CAPTURE(section);
            REQUIRE(found != tables.end());
            check_json(fields, whole(found->second, tables));
            written.insert(found->first);
        }
        fs::remove_all(folder / "out");
    }
    for (const auto& table : tables) {
        const std::string& name = table.first;
        CAPTURE(name);
        if (has_opencv || (!name.starts_with("classify/") && !name.starts_with("learn/")))
            CHECK((written.contains(name) || name.starts_with("Parts ")));
    }
}
