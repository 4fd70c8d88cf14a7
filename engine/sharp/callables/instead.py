"""What to write instead of names that honest programs use and the language lacks.

Editions that have a name do not look here. Advice names only what every edition has.
"""

from __future__ import annotations

_MAPPED = "use functions of whole arrays, or a comprehension over a static range"
_LOOP = "use for over a static range"
_FIELDS = "write the field out, as state.group.field"
PARAMETERS = frozenset({"self", "state", "previous", "prev_state", "previous_state", "prev", "next_state"})
"""Names that methods have from their parameters only."""

_TEXT = "strings are not part of the language"
_NOT_RANDOM = "nothing is random in a program"
_TYPES = "types are known from the list of fields"
_LEAVE_OUT = "leave it out"

OF_ARRAYS = "arrays have .any(), .all(), .sum(), .max(), .min(), .argmax(), .shape and a few more"
OF_NUMBERS = "this is one number or truth value: compare it as it is"
OF_MODULES = "compute it with operators, comparisons, jnp.where, .sum(), .any() and .all()"


def _table(*entries: tuple[str, str]) -> dict[str, str]:
    """Advice by name, from names separated by blanks and what to say of each."""
    return {name: advice for names, advice in entries for name in names.split()}


_NAMES = _table(
    ("np numpy onp scipy math torch nn", "use jnp"),
    ("random rng", _NOT_RANDOM),
    ("jit", "leave it out: every program is compiled"),
    ("vmap pmap vectorize", _MAPPED),
    ("isinstance issubclass type callable", _TYPES),
    ("print breakpoint input open exit quit help logging super", _LEAVE_OUT),
    ("eval exec compile", "write it as code"),
    ("getattr hasattr vars dir globals locals", _FIELDS),
    ("setattr delattr", "programs change nothing: leave it out"),
    ("str repr chr ord ascii format bytes bytearray memoryview hex oct bin", _TEXT),
    ("complex", "use numbers of the state as they are"),
    ("dict defaultdict OrderedDict Counter", "use tuples and comparisons"),
    ("set frozenset", "write {a, b} after in, or use a tuple"),
    ("dataclass property staticmethod classmethod object", "a program is one class: leave it out"),
    ("Exception ValueError TypeError KeyError IndexError RuntimeError AssertionError StopIteration", _LEAVE_OUT),
    ("NotImplementedError NotImplemented", "return False"),
    ("Ellipsis", "write ... in an index"),
    ("slice", "write start:stop in an index"),
    ("map", "write [f(x) for x in items]"),
    ("filter", "write [x for x in items if test]"),
    ("reduce", "use sum, any, all, min or max, or a for loop"),
    ("itertools functools collections product chain combinations", "use nested for loops over static ranges"),
    ("next", "use for with break, or any(...)"),
    ("iter", "use for"),
    ("sorted", "use min, max, or comparisons"),
    ("reversed", "use range with a negative step"),
    ("divmod", "use x // y and x % y"),
    ("pow", "use x ** y"),
    ("hash id", "compare the values"),
    ("true", "write True"),
    ("false", "write False"),
    ("null none nil undefined", "write None"),
    (" ".join(sorted(PARAMETERS)), "make it a parameter of this method, and pass it"),
    ("action actions", "a program sees the current state and the one before, no action"),
    ("reward rewards env env_params info obs", "a program sees the current state and the one before, nothing else"),
)
"""Bare names."""

_FUNCTIONS = _table(
    ("while_loop fori_loop scan associative_scan", _LOOP),
    ("vmap pmap vectorize apply_along_axis apply_over_axes frompyfunc", _MAPPED),
    ("map", "use a comprehension over a static range"),
    ("cond", "use if/else, or x if test else y"),
    ("switch", "use if/elif/else"),
    ("argwhere nonzero flatnonzero",
     "count with .sum(), or test with .any(): a result's size cannot depend on the state"),
    ("extract compress delete trim_zeros", "use jnp.where(test, a, 0): a result's size cannot depend on the state"),
    ("unique unique_values unique_counts unique_all bincount histogram union1d intersect1d setdiff1d setxor1d",
     "count with (a == x).sum(): a result's size cannot depend on the state"),
    ("var nanvar", "compute it: ((a - a.mean()) ** 2).mean()"),
    ("std nanstd", "compute it: jnp.sqrt(((a - a.mean()) ** 2).mean())"),
    ("cov corrcoef", "compute it from means: ((a - a.mean()) * (b - b.mean())).mean()"),
    ("median nanmedian percentile quantile nanpercentile nanquantile searchsorted digitize",
     "count what lies below: (a < x).sum()"),
    ("sort argsort lexsort partition argpartition sort_complex top_k",
     "count what lies below: (a < x).sum(), or use .argmax() and .argmin()"),
    ("exp exp2 expm1 log log2 log10 log1p tanh sinh cosh arcsinh arccosh arctanh asinh acosh atanh cbrt sigmoid "
     "logistic softmax logaddexp logaddexp2 sinc",
     "compare without it: what grows with its argument compares like the argument"),
    ("sin cos tan arcsin arccos arctan arctan2 asin acos atan atan2 deg2rad rad2deg degrees radians angle",
     "compare rows and columns instead of angles"),
    ("linspace logspace geomspace", "divide a range: jnp.arange(5) / 4"),
    ("identity eye diag diagflat tri tril triu vander", "compare ranges: jnp.arange(3)[:, None] == jnp.arange(3)"),
    ("tril_indices triu_indices diag_indices", "compare ranges: jnp.arange(3)[:, None] <= jnp.arange(3)"),
    ("diagonal trace", "pick it: a[jnp.arange(3), jnp.arange(3)]"),
    ("dot vdot vecdot inner matmul matvec vecmat einsum tensordot", "multiply and sum: (a * b).sum()"),
    ("outer kron", "multiply rows with columns: a[:, None] * b"),
    ("convolve correlate conv", "multiply and sum windows: grid[i - 1 : i + 2, j - 1 : j + 2]"),
    ("cross polyfit polyval poly roots interp", "write the formula out"),
    ("hstack vstack dstack column_stack append insert block concat r_ c_", "use jnp.stack or jnp.concatenate"),
    ("atleast_1d atleast_2d atleast_3d", "use jnp.expand_dims, or a[:, None]"),
    ("swapaxes moveaxis rollaxis permute_dims matrix_transpose", "use jnp.transpose, or index the other axis"),
    ("roll diff ediff1d gradient", "slice it: a[1:] and a[:-1] are neighbours"),
    ("pad", "take a window: its cells outside the grid count as nothing"),
    ("flip fliplr flipud rot90", "slice it with a negative step: a[::-1]"),
    ("split array_split hsplit vsplit dsplit unstack", "slice it: a[0:3]"),
    ("cumsum cumprod cumulative_sum cumulative_prod nancumsum nancumprod trapezoid trapz",
     "add up in a for loop, or take .sum() of a slice"),
    ("ptp", "use a.max() - a.min()"),
    ("nanmax fmax", "use jnp.max or jnp.maximum: nothing is NaN here"),
    ("nanmin fmin", "use jnp.min or jnp.minimum: nothing is NaN here"),
    ("nanargmax", "use jnp.argmax: nothing is NaN here"),
    ("nanargmin", "use jnp.argmin: nothing is NaN here"),
    ("nansum", "use jnp.sum: nothing is NaN here"),
    ("nanprod", "use jnp.prod: nothing is NaN here"),
    ("nanmean", "use jnp.mean: nothing is NaN here"),
    ("average", "use jnp.mean, or (a * w).sum() / w.sum()"),
    ("isnan nan nan_to_num", "leave it out: nothing is NaN here"),
    ("isclose allclose", "compare with a tolerance: abs(a - b) < 0.001"),
    ("array_equiv", "use jnp.array_equal"),
    ("isinf isfinite isposinf isneginf", "compare with jnp.inf"),
    ("isreal iscomplex isscalar ndim shape size iterable issubdtype result_type dtype finfo iinfo", _TYPES),
    ("real imag conj conjugate", "leave it out: numbers are real"),
    ("signbit", "write x < 0"),
    ("heaviside", "write (x > 0).astype(jnp.int32)"),
    ("copysign", "use jnp.sign"),
    ("invert bitwise_not bitwise_invert", "write ~a"),
    ("left_shift bitwise_left_shift", "write x << y"),
    ("right_shift bitwise_right_shift", "write x >> y"),
    ("select", "use jnp.where, or if/elif/else"),
    ("piecewise place putmask copyto put choose select_n fill_diagonal", "use jnp.where(test, new, old)"),
    ("trunc fix modf", "use .astype(jnp.int32)"),
    ("rint around", "use jnp.round"),
    ("take_along_axis dynamic_index_in_dim index_in_dim index_take ix_ gather ravel_multi_index",
     "use an index: a[row, column]"),
    ("dynamic_slice_in_dim slice slice_in_dim", "use a slice, or jax.lax.dynamic_slice"),
    ("dynamic_update_slice dynamic_update_slice_in_dim dynamic_update_index_in_dim scatter scatter_add",
     "arrays do not change: use jnp.where(test, new, old)"),
    ("meshgrid indices mgrid ogrid unravel_index fromfunction",
     "compare ranges with the place: jnp.arange(9)[:, None] - row"),
    ("tile repeat resize broadcast_arrays", "use jnp.broadcast_to, or let shapes spread"),
    ("empty", "use jnp.zeros"),
    ("empty_like", "use jnp.zeros_like"),
    ("hypot", "use jnp.sqrt(x ** 2 + y ** 2)"),
    ("negative", "write -x"),
    ("positive", "write +x"),
    ("reciprocal", "write 1 / x"),
    ("fabs", "use jnp.abs"),
    ("float_power pow", "write x ** y"),
    ("divmod", "write x // y and x % y"),
    ("fmod rem", "write x % y"),
    ("gcd lcm ldexp frexp nextafter spacing", "write the formula out"),
    ("in1d", "use jnp.isin"),
    ("astype", "write a.astype(jnp.int32)"),
    ("copy", "leave it out: arrays do not change"),
    ("int64 uint16 uint64", "use jnp.int32: all integers have 32 bits"),
    ("float64 double single", "use jnp.float32: all floats have 32 bits"),
    ("complex64 complex128 complex_ csingle cdouble", "numbers are real: use jnp.float32"),
    ("fft", "count or sum instead"),
    ("nn tree tree_util scipy", "use jnp"),
    ("jit named_call checkpoint block_until_ready device_get device_put", "leave it out: every program is compiled"),
    ("grad value_and_grad stop_gradient", "leave it out: nothing is learned here"),
    ("random PRNGKey", _NOT_RANDOM),
    ("debug print", _LEAVE_OUT),
    ("det inv pinv solve eig eigh eigvals eigvalsh svd svdvals qr cholesky matrix_rank matrix_power slogdet lstsq",
     "write the formula out"),
    ("hamming hanning blackman bartlett kaiser i0", "write the formula out"),
    ("vector_norm matrix_norm", "use jnp.linalg.norm"),
    ("add", "write x + y"),
    ("sub", "write x - y"),
    ("mul", "write x * y"),
    ("div", "write x / y"),
    ("neg", "write -x"),
    ("rsqrt", "write 1 / jnp.sqrt(x)"),
    ("integer_pow", "write x ** 2"),
    ("eq ne lt le gt ge", "write a comparison: ==, !=, <, <=, > or >="),
    ("clamp", "use jnp.clip"),
    ("iota broadcasted_iota", "use jnp.arange"),
    ("convert_element_type bitcast_convert_type", "write a.astype(jnp.int32)"),
    ("broadcast broadcast_in_dim", "use jnp.broadcast_to, or let shapes spread"),
    ("reduce reduce_sum reduce_max reduce_min reduce_and reduce_or reduce_prod reduce_window",
     "use .sum(), .max(), .min(), .any() or .all()"),
    ("cummax cummin cumlogsumexp", "take .max() or .min() of a slice"),
    ("rev", "slice it with a negative step: a[::-1]"),
    ("is_finite", "compare with jnp.inf"),
    ("dot_general batch_matmul", "multiply and sum: (a * b).sum()"),
    ("bitwise_count population_count", "add up bits: ((x >> jnp.arange(8)) & 1).sum()"),
    ("broadcast_shapes", _TYPES),
    ("array_str array_repr", _TEXT),
    ("flat", "use .ravel()"),
)  # fmt: skip
"""Functions and constants of jnp, jax and jax.lax."""

_MEMBERS = _table(
    ("set at add fill put itemset update replace at_set", "arrays do not change: use jnp.where(test, new, old)"),
    ("count", "count with (array == value).sum()"),
    ("index find", "find the first with jnp.argmax(array == value)"),
    ("append extend insert push", "arrays do not grow: use a local list"),
    ("length len", "use .shape, or len(...)"),
    ("contains includes has", "write value in array"),
    ("keys values items get", "name the fields: state.group.field"),
    ("name", "a member of an enum means its integer"),
    ("view tobytes", "use .astype(jnp.int32) or .astype(jnp.float32)"),
)
"""Attributes of numbers and arrays."""


def instead_of_name(name: str) -> str | None:
    """What to write instead of a bare name."""
    return _NAMES.get(name)


def instead_of_function(name: str) -> str | None:
    """What to write instead of a function of a module."""
    return _FUNCTIONS.get(name)


def instead_of_member(name: str) -> str | None:
    """What to write instead of an attribute of a number or an array."""
    return _MEMBERS.get(name) or _FUNCTIONS.get(name)
