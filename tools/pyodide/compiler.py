"""What cc, c++ and ld call: compiles C and C++ for Pyodide, and links a module that it can load.

Compiling is Zig's Clang with Emscripten's headers. Linking is LLVM's linker for WebAssembly: a module is a shared
library whose missing symbols are found when it is loaded, in what Pyodide exports. A program is only linked, never
run: a build system asks so whether a function exists, and learns what Pyodide exports (`exports`).
"""

import os
import sys
from pathlib import Path

SDK = Path(__file__).resolve().parent
ZIG = str(SDK / "zig" / "zig")
SYSTEM = SDK / "system"
HEADERS = [
    SYSTEM / "include",
    SYSTEM / "include/compat",
    SYSTEM / "lib/libc/musl/arch/emscripten",
    SYSTEM / "lib/libc/musl/include",
    SYSTEM / "lib/libc/musl/arch/generic",
]


def compile_command(arguments: list[str], language: str) -> list[str]:
    """Return the command line that compiles."""
    # Zig puts Clang's own headers before those of -isystem, and C++'s have to come before both.
    first = (
        ["-nostdinc++", *(f"-I{SYSTEM}/lib/{part}/include" for part in ("libcxx", "libcxxabi"))]
        if language == "c++"
        else []
    )
    return [
        ZIG,
        language,
        "-target",
        "wasm32-emscripten",
        "-mcpu=generic+exception_handling" if "-c" in arguments else "-mcpu=generic",
        "-D__EMSCRIPTEN_major__=4",
        "-D__EMSCRIPTEN_minor__=0",
        "-D__EMSCRIPTEN_tiny__=9",
        "-fPIC",
        "-fwasm-exceptions",
        "-fno-sanitize=all",
        "-nostdinc",
        *first,
        *[part for header in HEADERS for part in ("-isystem", str(header))],
        f"-I{SDK / 'python'}",
        *arguments,
    ]


def link_command(arguments: list[str]) -> list[str]:
    """Return the command line that links objects and archives to a module, or to a program that is never run."""
    output = Path(arguments[arguments.index("-o") + 1])
    inputs = [part for part in arguments if part.endswith((".o", ".a", ".obj"))]
    if "-shared" in arguments:
        start = f"--export-if-defined=PyInit_{output.name.split('.')[0]}"
        how = ["-shared", "--no-gc-sections", "--experimental-pic", "--unresolved-symbols=import-dynamic", start]
    else:
        how = ["--no-entry", "--export=main", f"--allow-undefined-file={SDK / 'exports'}"]
    return [ZIG, "wasm-ld", *how, "--no-check-features", "-O2", "--strip-debug", "-o", str(output), *inputs]


def main() -> None:
    """Compile, link, or both, as the options of a C compiler say."""
    language, *arguments = sys.argv[1:]
    arguments = [
        part for part in arguments if not part.startswith(("-sSUPPORT_", "-falign-loops"))
    ]  # Emscripten's own, and x86's
    sources = [part for part in arguments if part.endswith((".c", ".cpp", ".cc", ".cxx", ".S"))]
    if any(part in arguments for part in ("-c", "-E", "-S", "--version", "-v", "-dumpversion")) or "-" in arguments:
        command = compile_command(arguments, language)
    elif "-Wl,--version" in arguments:
        command = [ZIG, "wasm-ld", "--version"]
    else:
        objects: list[str] = []
        options = [part for part in arguments if not part.startswith(("-l", "-Wl,", "-L", "-shared"))]
        for source in sources:
            objects.append(f"{arguments[arguments.index('-o') + 1]}.{len(objects)}.o")
            others = [part for part in options if part not in sources and not part.endswith((".o", ".a"))]
            others[others.index("-o") + 1] = objects[-1]
            status = os.spawnv(os.P_WAIT, ZIG, compile_command(["-c", source, *others], language))
            if status:
                sys.exit(status)
        command = link_command([*arguments, *objects])
    os.execv(ZIG, command)


main()
