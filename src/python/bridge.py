"""Mneme's Python side: loads a user's file, describes a class in it, and builds and calls its modules.

Runs inside mneme-worker (src/python/bridge.cpp). Everything that goes back and forth is a string, a number or a tensor.
"""
import ast
import hashlib
import importlib.util
import inspect
import json
import pathlib
import random
import sys
import traceback
import types
import typing

# Arguments that are not options: the model fills them in.
CONTEXT = ("length", "layer")
# Names of options that every Python mixer has (src/catalog/python_class.cpp).
RESERVED = ("source", "init_by")


class Refusal(Exception):
    """The class cannot be used, for a reason that its message says."""


def require_torch(expected):
    """The torch that this process's libtorch belongs to, or a refusal: two of them in one process would crash."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Refusal(f"{sys.executable} has no torch, expected it in {expected}: install python3-torch")
    found = str(pathlib.Path(list(spec.submodule_search_locations)[0]).resolve())
    if found != str(pathlib.Path(expected).resolve()):
        raise Refusal(f"Python finds torch in {found}, but mneme-worker was built with the one in {expected}; hide the first "
                      "one (PYTHONNOUSERSITE=1, PYTHONPATH), or build with its torch.utils.cmake_prefix_path "
                      "(docs/python.md)")
    import torch  # noqa: F401
    torch.set_num_threads(1)


def is_below(path, folder):
    path = pathlib.Path(path)
    return folder in path.parents and not {"site-packages", "dist-packages"} & set(path.parts)


def forget_modules_below(folder):
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and is_below(file, folder):
            del sys.modules[name]


_folder = None  # of the file that was loaded last: it is the first place where modules are looked for
_loaded = {}


def load(folder, file):
    """The module of a file, with its folder first on the path; a second version of it replaces the first for imports."""
    global _folder
    folder = pathlib.Path(folder).resolve()
    key = str(folder / file)
    if key in _loaded and _folder == folder:
        return _loaded[key]
    if _folder is not None:
        sys.path.remove(str(_folder))
        forget_modules_below(_folder)
    sys.path.insert(0, str(folder))
    _folder = folder
    importlib.invalidate_caches()
    if key in _loaded:
        return _loaded[key]
    stem = pathlib.Path(file).stem
    name = stem if stem not in sys.modules else f"mneme_mixer_{stem}"
    spec = importlib.util.spec_from_file_location(name, key)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    _loaded[key] = module
    return module


def imported_names(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield node.level, base
            yield from ((node.level, f"{base}.{alias.name}".strip(".")) for alias in node.names)


def local_files(folder, file):
    """The file and every file of its folder that an import in it names, at once or later, by their paths in the folder.

    Read from the text, not from what is loaded: that depends on what else this process has seen.
    """
    folder = pathlib.Path(folder).resolve()
    waiting = [folder / file]
    found = {}
    while waiting:
        path = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name in found:
            continue
        found[name] = path.read_text(encoding="utf-8")
        for level, dotted in imported_names(found[name]):
            base = folder
            if level:
                base = path.parent
                for _ in range(level - 1):
                    base = base.parent
            parts = [part for part in dotted.split(".") if part]
            for depth in range(1, len(parts) + 1):
                place = base.joinpath(*parts[:depth])
                for candidate in (place.with_suffix(".py"), place / "__init__.py"):
                    if candidate.is_file() and is_below(candidate, folder):
                        waiting.append(candidate)
    return dict(sorted(found.items()))


def hash_of(files, file):
    digest = hashlib.sha256(file.encode())
    for name, text in files.items():
        digest.update(f"\0{name}\0{len(text)}\0".encode())
        digest.update(text.encode())
    return digest.hexdigest()[:16]


def find_class(module, file, class_name):
    import torch
    found = getattr(module, class_name, None)
    if not (inspect.isclass(found) and issubclass(found, torch.nn.Module)):
        known = [name for name, value in vars(module).items()
                 if inspect.isclass(value) and issubclass(value, torch.nn.Module) and value.__module__ == module.__name__]
        what = "is not a torch.nn.Module" if found is not None else "is not there"
        raise Refusal(f"{file}: the class {class_name} {what}; its modules are: {', '.join(known) or 'none'}")
    if found.forward is torch.nn.Module.forward:
        raise Refusal(f"{file}: the class {class_name} has no method forward(self, x), expected one")
    return found


SIMPLE = {bool: "flag", int: "integer", float: "real", str: "text"}
LISTS = {int: "integers", float: "reals", str: "texts"}


def type_of(annotation, default):
    """(type, choices, may be None) of an argument, or None if it has no type that a configuration can hold."""
    if annotation is inspect.Parameter.empty:
        if isinstance(default, (list, tuple)) and default and type(default[0]) in LISTS:
            return LISTS[type(default[0])], None, False
        return (SIMPLE[type(default)], None, False) if type(default) in SIMPLE else None
    if annotation in SIMPLE:
        return SIMPLE[annotation], None, False
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal and all(isinstance(choice, str) for choice in inner):
        return "choice", list(inner), False
    if origin in (list, tuple, typing.Sequence) and inner and inner[0] in LISTS:
        return LISTS[inner[0]], None, False
    if origin is typing.Union or origin is getattr(types, "UnionType", None):
        others = [one for one in inner if one is not type(None)]
        if len(others) == 1 and others[0] in (int, float, str) and len(inner) == 2:
            return SIMPLE[others[0]], None, True
    return None


def help_for(name, doc):
    for line in (doc or "").splitlines():
        head, colon, text = line.strip().partition(":")
        if colon and head.strip() == name:
            return text.strip()
    return ""


def arguments_of(cls, where):
    """The constructor's first argument takes the width, the others are options, except those that the model fills in."""
    signature = inspect.signature(cls.__init__)
    try:
        hints = typing.get_type_hints(cls.__init__)
    except Exception:  # a name in an annotation that is not defined: the annotations as they are
        hints = {}
    parameters = [p for p in list(signature.parameters.values())[1:]
                  if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not parameters or parameters[0].kind == parameters[0].KEYWORD_ONLY:
        raise Refusal(f"{where}.__init__ takes no positional argument, expected the width as its first")
    doc = (cls.__doc__ or "") + "\n" + (cls.__init__.__doc__ or "")
    found = []
    for parameter in parameters[1:]:
        if parameter.name in CONTEXT:
            continue
        empty = parameter.default is parameter.empty
        kind = type_of(hints.get(parameter.name, parameter.annotation), parameter.default)
        if parameter.name in RESERVED:
            raise Refusal(f"{where}: the argument {parameter.name} has a name that Mneme uses itself, expected another")
        if kind is None or parameter.kind == parameter.POSITIONAL_ONLY:
            if empty:
                raise Refusal(f"{where}: the argument {parameter.name} has no default, and no annotation that says int, float, "
                              "bool, str, Literal, Optional or a list of these")
            continue  # it keeps its default
        argument = {"name": parameter.name, "type": kind[0], "help": help_for(parameter.name, doc)}
        if kind[1]:
            argument["choices"] = kind[1]
        if kind[2] or parameter.default is None:
            argument["optional"] = True
        if not empty:
            default = parameter.default
            if kind[0] == "real" and default is not None:
                default = float(default)
            argument["default"] = list(default) if isinstance(default, tuple) else default
        found.append(argument)
    return found, [p.name for p in parameters[1:] if p.name in CONTEXT]


def said(cls, name, otherwise):
    value = getattr(cls, name, None)
    return value if isinstance(value, bool) else otherwise


def describe(path, class_name):
    path = pathlib.Path(path).resolve()
    module = load(path.parent, path.name)
    cls = find_class(module, path.name, class_name)
    files = local_files(path.parent, path.name)
    arguments, context = arguments_of(cls, f"{path.name}:{class_name}")
    lines = (cls.__doc__ or "").strip().splitlines()
    return json.dumps({
        "file": path.name,
        "class": class_name,
        "source": hash_of(files, path.name),
        "files": files,
        "summary": lines[0] if lines and cls.__doc__ is not cls.__mro__[1].__doc__ else "",
        "arguments": arguments,
        "takes_length": "length" in context,
        "takes_layer": "layer" in context,
        "causal": said(cls, "causal", True),
        "knows_order": said(cls, "knows_order", None),
        "has_step": callable(getattr(cls, "step", None)),
        "tells_state": callable(getattr(cls, "state_size", None)) or
                       (callable(getattr(cls, "step", None)) and callable(getattr(cls, "initial_state", None))),
    })


def seed_others(seed):
    """The generators beside torch's that a constructor may draw its weights from."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)


def build(folder, file, class_name, arguments, width, length, layer):
    import torch
    cls = find_class(load(folder, file), file, class_name)
    keywords = json.loads(arguments)
    names = inspect.signature(cls.__init__).parameters
    for name, value in zip(CONTEXT, (length, layer)):
        if name in names:
            keywords[name] = value
    module = cls(width, **keywords)
    if not isinstance(module, torch.nn.Module):
        raise Refusal(f"{file}: calling {class_name} gives a {type(module).__name__}, expected a torch.nn.Module")
    return module


def tensors(module):
    """(trained parameters, everything else that is kept), each (name, tensor, of a Linear)."""
    import torch
    linear = {f"{name}.{own}" if name else own
              for name, part in module.named_modules() if isinstance(part, torch.nn.Linear)
              for own in ("weight", "bias")}
    trained, kept = [], []
    for name, parameter in module.named_parameters():
        if isinstance(parameter, torch.nn.parameter.UninitializedParameter):
            raise Refusal(f"parameter '{name}' has no shape before the first call, because its layer is a lazy one; expected "
                          "layers that are given their sizes in the constructor")
        (trained if parameter.requires_grad else kept).append((name, parameter, name in linear))
    kept += [(name, buffer, False) for name, buffer in module.named_buffers()]
    return trained, kept


def output_of(value, method):
    import torch
    if isinstance(value, torch.Tensor):
        return value
    # Many public modules return their state, or attention weights, after the output.
    if isinstance(value, tuple) and value and isinstance(value[0], torch.Tensor):
        return value[0]
    raise Refusal(f"{method} returned a {type(value).__name__}, expected a tensor")


def forward(module, x):
    return output_of(module(x), "forward")


def flatten(state):
    """A state's tensors in a list, and how to put them back."""
    import torch
    if isinstance(state, torch.Tensor):
        return [state], None
    if isinstance(state, dict):
        keys, values = list(state), list(state.values())
    elif isinstance(state, (list, tuple)):
        keys, values = type(state), list(state)
    else:
        raise Refusal(f"a state has a {type(state).__name__} in it, expected tensors, lists, tuples and dicts of them")
    parts = [flatten(value) for value in values]
    return [tensor for part in parts for tensor in part[0]], (keys, [(len(part[0]), part[1]) for part in parts])


def restored(flat, shape):
    if shape is None:
        return flat[0]
    keys, parts = shape
    values, at = [], 0
    for count, inner in parts:
        values.append(restored(flat[at:at + count], inner))
        at += count
    if isinstance(keys, list):
        return dict(zip(keys, values))
    return keys(*values) if hasattr(keys, "_fields") else keys(values)


def initial_state(module, batch):
    return flatten(module.initial_state(batch))


def step(module, flat, shape, x):
    result = module.step(restored(flat, shape), x)
    if not (isinstance(result, tuple) and len(result) == 2):
        raise Refusal("step returned something else than two things, expected (output, state)")
    state, shape = flatten(result[1])
    return output_of(result[0], "step"), state, shape


def state_size(module, length):
    return int(module.state_size(length)) if callable(getattr(module, "state_size", None)) else -1


def last_lines(error, folder):
    """The exception with the last places in the user's own files, as one line."""
    if isinstance(error, Refusal):
        return str(error)
    prefix = str(pathlib.Path(folder).resolve()) + "/" if folder else ""
    text = traceback.format_exception(type(error), error, error.__traceback__)
    sys.stderr.write("".join(text))
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if prefix and frame.filename.startswith(prefix)]
    # Neither this file nor Python's own frozen modules say anything to a user.
    named = [frame for frame in frames if not frame.filename.startswith("<")]
    parts = []
    for frame in (own or named)[-3:]:
        name = frame.filename[len(prefix):] if frame.filename.startswith(prefix) else frame.filename
        parts.append(f'File "{name}", line {frame.lineno}, in {frame.name}: {frame.line}')
    if isinstance(error, SyntaxError):
        name = pathlib.Path(error.filename or "?").name
        parts = [f'File "{name}", line {error.lineno}: {(error.text or "").strip()}']
        return " | ".join(parts + [f"{type(error).__name__}: {error.msg}"])
    message = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
    return " | ".join(parts + message[:4])


def versions():
    import torch
    return f"{sys.version.split()[0]}, torch {torch.__version__}"
