#!/usr/bin/env bash
# The bash completion, called as bash calls it:  completion_test.sh PROGRAM
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"
# shellcheck source=app/mnist-knn.bash
source "$repository/app/mnist-knn.bash"

program=$1
cd "$work"
mkdir folder "with space"
touch file

# What is offered for a line whose last word is being typed.
offered() {  # WORD...
    COMP_WORDS=("$program" "$@")
    # shellcheck disable=SC2034  # read by the completion
    COMP_CWORD=$#
    _mnist_knn || true
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' '|'
}

check "commands" contains "$(offered '')" "|generate|graph|info|"
check "a command with a line of its own" equal "$(offered neigh)" "neighbors|"
check "a command begun" equal "$(offered eva)" "evaluate|"
check "options" contains "$(offered evaluate --)" "|--engine|"
check "short options" contains "$(offered evaluate -)" "-k|"
check "an option begun" equal "$(offered evaluate --test-)" "--test-images|--test-labels|"
check "another command's options" contains "$(offered info --)" "|--write-synthetic|"
check "options after an option with its value" contains "$(offered evaluate -k 3 --)" "|--tie|"
check "options alone, not what their help mentions" equal "$(offered view --rep)" "|"
check "names" equal "$(offered evaluate --tie '')" "nearest|smallest|"
check "a name begun" equal "$(offered evaluate --engine cl)" "classic|"
check "a name after an equals sign" equal "$(offered evaluate --tie = ne)" "nearest|"
check "names after an equals sign" equal "$(offered evaluate --tie =)" "nearest|smallest|"
check "names beside a number" equal "$(offered classify --reject '')" "auto|off|"
check "when" equal "$(offered evaluate --color '')" "always|auto|never|"
check "help" contains "$(offered evaluate --h)" "--help|"
check "all devices" equal "$(offered evaluate --device '')" "auto|cpu|gpu|gpu:|gpu:all|"
check "GPUs, whose names bash splits" equal "$(offered evaluate --device gpu :)$(offered evaluate --device = gpu : a)" "all|all|"
check "devices" equal "$(offered evaluate --device c)" "cpu|"
check "spreads" equal "$(offered evaluate --spread '')" "auto|queries|training|"
check "folders" equal "$(offered evaluate --data '')" "folder|with space|"
check "files" equal "$(offered evaluate --json f)" "file|folder|"
check "the names of a command's own option" equal "$(offered graph --form '')" "directed|mutual|symmetric|"
check "files of a command's own option" equal "$(offered graph --npy f)" "file|folder|"
check "the rules of condense" equal "$(offered condense --rule '')" "both|condense|edit|"
check "the sets of audit" equal "$(offered audit --of '')" "test|train|"
check "a size" equal "$(offered evaluate --memory '')" "|"
check "a grid" equal "$(offered classify --grid '')" "|"
check "a number" equal "$(offered evaluate -k '')" "|"
check "cases" equal "$(offered bench --case z)" "zhu|"
check "cases of no paper" equal "$(offered bench --case t)" "transforms|"
for name in cpu nth_element classic+gemm+replace_max; do  # a build with CUDA has others between
    check "a list of names" contains "|$(offered bench --only '')" "|$name|"
done
check "methods" equal "$(offered evaluate --method g)" "gradients|"
check "files of a method" equal "$(offered evaluate --method f)" "file|folder|"
check "a range" equal "$(offered tune -k '')" "|"
check "methods of tune" equal "$(offered tune --method a)" "accurate|"
check "votes of tune" equal "$(offered tune --vote '')" "class-mean|majority|"
check "reports" equal "$(offered compare f)" "file|folder|"
check "folders of learn" equal "$(offered learn f)" "file|folder|"
check "transforms" equal "$(offered evaluate --transform '')" "blur|deskew|gradients|hog|minmax|normalize|pca:|raw|zscore|"
check "re-rankers" equal "$(offered evaluate --rerank '')" "both|cells|distortion|none|spread|"
check "a list of transforms begun" equal "$(offered evaluate --transform deskew,h)" "deskew,hog|"
check "a list of names begun" equal "$(offered bench --only cpu,nth)" "cpu,nth_element|"
check "a list begun with other text" equal "$(offered evaluate --transform 'a/b&,ho')" "a/b&,hog|"
