#!/usr/bin/env bash
# The man page is well formed and has every command and option of the help and every variable:  man_test.sh PROGRAM PAGE
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

program=$1
page=$2

commands=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
check "the help has commands" test -n "$commands"
for command in $commands; do
    check "command $command" grep -qx ".It Cm $command" "$page"
    options=$("$program" "$command" --help=all | grep -oE '^ +(-[a-z], +)?--?[a-z][a-z-]*' | tr -d ',')
    for option in $options; do
        check "$command $option" grep -qE -- "^\.It .*Fl ${option#-}( |\$)|^\.It .*, ${option#-}( |\$)" "$page"
    done
done

transforms=$(sed -n '/name_list<TransformKind>/,/;/p' "$repository/data/transform/spec.h" | grep -oE '"[a-z]+"' | tr -d '"')
check "the program has transforms" contains "$transforms" zscore
for transform in $transforms; do
    check "transform $transform" grep -qE "^\.It Cm $transform( |\$)" "$page"
done
cases=$("$program" bench --help=all | tr -s ' \n' ' ' | sed 's/.*an experiment: //; s/ or /, /; s/;.*//' | tr -d ,)
check "the program has cases" contains "$cases" rerank
for case in $cases; do
    check "case $case" grep -qx ".Cm $case :" "$page"
    check "case $case in README" grep -q "bench --case $case \|\`$case\`" "$repository/README.md"
done

members=$(grep -oE 'check_keys\(\{"name"[^}]*' "$repository/app/commands/pictures.cpp" | grep -oE '"[a-z]+"' | tr -d '"')
check "a template has fields" contains "$members" checksum
for member in $members; do
    check "template: $member" grep -qx ".It Cm $member" "$page"
done

variables=$(grep -rhoE '(getenv|environment)\("MNIST_KNN_[A-Z_]+"' "$repository"/{app,cpu,data,gpu} | grep -oE 'MNIST_KNN_[A-Z_]+' | grep -v FAULT)
check "the program reads variables" test -n "$variables"
for variable in $variables; do
    check "$variable" grep -qx ".It Ev $variable" "$page"
done

command -v mandoc >/dev/null || skip "mandoc was not found"
check "mandoc finds nothing" equal "$(mandoc -T lint "$page" 2>&1)" ""
