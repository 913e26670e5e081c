#!/usr/bin/env bash
# Which presets tools/setup.sh configures with CUDA if nvcc is found: those that do not turn it off, `default` only for the
# GPUs of a driver. CMake reads the real presets; configuring, nvcc and the driver are mocks.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

cmake=$(command -v cmake) || skip "cmake was not found"
mkdir -p "$work/tools" "$work/bin"
cp "$repository/tools/setup.sh" "$work/tools"
cp "$repository/CMakePresets.json" "$work"

cat >"$work/bin/nvcc" <<'EOF'
#!/bin/bash
echo "Cuda compilation tools, release 12.9, V12.9.86"
EOF
cat >"$work/bin/cmake" <<EOF
#!/bin/bash
[[ " \$* " != *" -N "* ]] || exec "$cmake" "\$@"
mkdir -p "\$2/build/\$4"
touch "\$2/build/\$4/build.ninja"
printf '%s\n' "\$@" | sed -n 's/^-D\([A-Z_]*\)=/\1:STRING=/p' >"\$2/build/\$4/CMakeCache.txt"
EOF
printf '#!/bin/bash\n[[ -f "%s/driver" ]] && printf "9.0\\n8.6\\n9.0\\n"\n' "$work" >"$work/bin/nvidia-smi"
chmod +x "$work"/bin/*

# Runs setup.sh's configure for PRESET; sets configured (CUDA, nvcc) and said.
configure() {  # PRESET
    # shellcheck disable=SC2016  # the inner shell's words
    said=$(PATH="$work/bin:$PATH" CUDACXX="$work/bin/nvcc" \
        bash -euo pipefail -c 'source "$1"; configure "$2" -DBUILD_TESTING=ON' quick "$work/tools/setup.sh" "$1" 2>&1)
    configured=$(sed -n 's/^MNIST_KNN_CUDA:STRING=//p; s/^CMAKE_CUDA_COMPILER:STRING=/nvcc=/p; s/^CMAKE_CUDA_ARCHITECTURES:STRING=/for /p' \
        "$work/build/$1/CMakeCache.txt" | tr '\n' ' ')
}

configure default
check "without a driver there is no CUDA" equal "$configured" "OFF "
check "which is said" contains "$said" "build/default for the CPU alone: no GPU driver was found"
configure default
check "once" equal "$said" ""
touch "$work/driver"
configure default
check "with a driver there is, for its GPUs" equal "$configured" "for 86-real;90a-real ON nvcc=$work/bin/nvcc "
rm "$work/driver"
configure default
check "and it stays" equal "$said" ""
for preset in portable debug; do
    configure "$preset"
    check "$preset has CUDA" equal "$configured" "ON nvcc=$work/bin/nvcc "
    check "$preset names nvcc" contains "$said" "configuring build/$preset with $work/bin/nvcc"
done
for preset in cpu asan tsan fuzz; do
    configure "$preset"
    check "$preset has no CUDA" equal "$configured" "OFF "
    check "$preset names no nvcc" equal "${said##*: }" "configuring build/$preset"
    configure "$preset"
    check "$preset is configured once" equal "$said" ""
    sed -i 's/CUDA:STRING=OFF/CUDA:STRING=ON/' "$work/build/$preset/CMakeCache.txt"
    configure "$preset"
    check "$preset loses the CUDA that its folder had" equal "$configured" "OFF "
done

for letter in '#' ';' '"' $'\n'; do
    folder="$work/a${letter}b"
    mkdir "$folder"
    cp "$repository/CMakeLists.txt" "$repository/CMakePresets.json" "$folder"
    said=$("$cmake" -S "$folder" --preset cpu 2>&1) && status=0 || status=$?
    check "a folder with '$letter' is refused" equal "$status" 1
    check "'$letter' is said in one message" contains "$(tr -s ' \n' ' ' <<<"$said")" "which CMake cannot build in; expected other names"
    check "'$letter' is the only error" equal "$(grep -c 'CMake Error' <<<"$said")" 1
done
