# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that layers of quern.torch equal those of torch.nn after every kind of update of their weights."""

import copy
import ctypes
import io
import pickle
import random
import threading

import numpy
import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, prune

import quern
import quern.torch

X = torch.randn(5, 3, 4, generator=torch.Generator().manual_seed(1))
OPTIONS = {"num_layers": 2, "bidirectional": True}


def make(kind="LSTM", **options):
    return getattr(quern.torch, kind)(4, 6, **(options or OPTIONS))


def reference(module, parameters=None):
    """Returns a module of torch.nn with the current weights of `module`, of which `parameters` replaces some."""
    kind = type(module).__mro__[1 if parametrize.is_parametrized(module) else 0].__name__
    theirs = getattr(nn, kind)(4, 6, num_layers=module.num_layers, bidirectional=module.bidirectional,
                               dtype=module._parameters_of(0)[0][0].dtype)
    with torch.no_grad():
        for name, weight in theirs.named_parameters():
            weight.copy_((parameters or {}).get(name, getattr(module, name)))
    return theirs


def tensors(result):
    y, last = result
    return [y.detach(), *(s.detach() for s in (last if isinstance(last, tuple) else [last]))]


def check(module):
    """Compares the results of `module` with the reference in each mode of autograd, and returns its output y."""
    theirs = reference(module)
    x = X.to(module._parameters_of(0)[0][0].dtype)
    tolerance = 2e-4 if x.dtype in (torch.float32, torch.float64) else 0.05
    with torch.no_grad():
        expected = tensors(theirs(x))
        found = tensors(module(x))
    with torch.inference_mode():
        inferred = tensors(module(x))
    for results in (found, inferred, tensors(module(x))):
        torch.testing.assert_close(results, expected, rtol=tolerance, atol=tolerance)
    return found[0]


# --- Kinds of update: each function changes the weights of a module, and may return another module ---


def train(make_optimizer, steps=2):
    def update(module):
        optimizer = make_optimizer(module.parameters())

        def closure():
            optimizer.zero_grad()
            loss = (module(X)[0] ** 2).mean()
            loss.backward()
            return loss
        for _ in range(steps):
            optimizer.step(closure)
    return update


def each(function):
    """Returns an update that calls `function` for each parameter."""
    def update(module):
        for parameter in module.parameters():
            function(parameter)
    return update


def unrecorded(function):
    def update(parameter):
        with torch.no_grad():
            function(parameter)
    return each(update)


def noise(parameter):
    return torch.randn(parameter.shape) / 4


def by_state(assign):
    def update(module):
        module.load_state_dict({name: noise(value) for name, value in module.state_dict().items()}, assign=assign)
    return update


def by_storage(parameter):
    parameter.data.untyped_storage().copy_(noise(parameter).untyped_storage())


def by_address(parameter):
    made = noise(parameter)
    ctypes.memmove(parameter.data_ptr(), made.data_ptr(), made.nbytes)


def by_numpy(parameter):
    parameter.detach().numpy()[...] *= 0.5


def by_dlpack(parameter):
    numpy.from_dlpack(parameter.detach())[...] += 0.125


def by_set(parameter):
    with torch.no_grad():
        parameter.set_(noise(parameter))


def by_foreach(module):
    torch._foreach_add_([parameter.data for parameter in module.parameters()], 0.125)


def by_vector(module):
    vector = nn.utils.parameters_to_vector(module.parameters())
    nn.utils.vector_to_parameters(vector.detach() * 0.7, module.parameters())


def by_swap(module):
    module._flat_weight_refs = []  # PyTorch does not swap tensors that have weak references
    for name, parameter in list(module.named_parameters()):
        torch.utils.swap_tensors(getattr(module, name), nn.Parameter(noise(parameter)))


def by_new_parameters(module):
    for name, parameter in list(module.named_parameters()):
        setattr(module, name, nn.Parameter(noise(parameter)))


def by_tied_parameters(module):
    other = make(type(module).__name__, num_layers=module.num_layers, bidirectional=module.bidirectional)
    check(other)
    for name, parameter in other.named_parameters():
        setattr(module, name, parameter)
    with torch.no_grad():
        other.weight_hh_l0.mul_(0.25)


class Half(nn.Module):
    def forward(self, x):
        return x / 2


def by_parametrization(module):
    parametrize.register_parametrization(module, "weight_hh_l0", Half())
    check(module)
    module.parametrizations.weight_hh_l0.original.data.mul_(0.5)
    check(module)
    parametrize.remove_parametrizations(module, "weight_hh_l0")


def by_weight_norm(module):
    parametrizations.weight_norm(module, "weight_ih_l0")
    check(module)
    module.parametrizations.weight_ih_l0.original0.data.mul_(1.5)
    check(module)
    parametrize.remove_parametrizations(module, "weight_ih_l0")
    module._load_state_dict_pre_hooks.clear()  # contains a hook of weight_norm that cannot be pickled


def by_old_weight_norm(module):
    module(X)
    nn.utils.weight_norm(module, "weight_hh_l0")
    module.weight_hh_l0_g.data.mul_(1.5)
    module(X)  # a hook computes the weight
    check(module)
    nn.utils.remove_weight_norm(module, "weight_hh_l0")


def by_spectral_norm(module):
    parametrizations.spectral_norm(module, "weight_hh_l0")
    module.eval()  # in training mode each access changes the estimate
    check(module)
    module.parametrizations.weight_hh_l0.original.data.add_(0.5)
    check(module)
    parametrize.remove_parametrizations(module, "weight_hh_l0")


def by_pruning(module):
    prune.l1_unstructured(module, "weight_hh_l0", 0.5)
    check(module)
    module.weight_hh_l0_orig.data.mul_(1.5)
    module(X)  # a hook computes the weight
    check(module)
    prune.remove(module, "weight_hh_l0")


def by_copy(module):
    check(module)
    copied = copy.deepcopy(module)
    each(lambda parameter: parameter.data.mul_(0.5))(copied)
    check(module)
    return copied


def by_pickle(module):
    check(module)
    again = pickle.loads(pickle.dumps(module))
    again.weight_hh_l0.data.mul_(0.5)
    return again


def by_file(module):
    check(module)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    again.weight_hh_l0.data.mul_(0.5)
    return again


def by_type(type):
    def update(module):
        module.to(type)
        check(module)
        module.weight_hh_l0.data.mul_(0.5)
        check(module)
        module.float()
    return update


def write_shared(parameters):
    for parameter in parameters:
        parameter.mul_(0.5)


def by_another_process(module):
    module.share_memory()
    check(module)
    process = torch.multiprocessing.get_context("spawn").Process(
        target=write_shared, args=([parameter.data for parameter in module.parameters()],))
    process.start()
    process.join()
    assert process.exitcode == 0


def by_threads(module):
    threads = [threading.Thread(target=lambda p=parameter: p.data.mul_(0.5)) for parameter in module.parameters()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def by_mapped_file(module, path="/dev/shm"):
    import tempfile
    with tempfile.NamedTemporaryFile(dir=path) as file:
        parameter = module.weight_hh_l0
        file.truncate(parameter.nbytes)
        mapped = torch.from_file(file.name, shared=True, size=parameter.numel(), dtype=parameter.dtype)
        mapped.copy_(parameter.detach().flatten())
        parameter.data = mapped.view(parameter.shape)
        check(module)
        memory = numpy.memmap(file.name, numpy.float32, "r+")
        memory *= 0.5
        memory.flush()


def by_average(module):
    other = make(type(module).__name__, num_layers=module.num_layers, bidirectional=module.bidirectional)
    averaged = torch.optim.swa_utils.AveragedModel(module, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.5))
    averaged.update_parameters(module)
    check(averaged.module)
    averaged.update_parameters(other)
    return averaged.module


def by_compiled_step(module):
    parameters = [parameter.data for parameter in module.parameters()]

    @torch.compile(backend="aot_eager")
    def step(values):
        torch._foreach_mul_(values, 0.5)
    step(parameters)


def by_inference_mode(module):
    with torch.inference_mode():
        for parameter in module.parameters():
            parameter.mul_(0.5)


def by_hand(module):
    (module(X)[0] ** 2).mean().backward()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter -= 0.5 * parameter.grad


def by_hook(module):
    """Updates each parameter in a hook of the backward pass, as some optimizers do."""
    def step(parameter):
        parameter.data.sub_(parameter.grad, alpha=0.5)
    handles = [parameter.register_post_accumulate_grad_hook(step) for parameter in module.parameters()]
    (module(X)[0] ** 2).mean().backward()
    for handle in handles:
        handle.remove()


def by_bias(module):
    module.bias_ih_l0.data.fill_(0.5)


def by_one_element(module):
    module.weight_hh_l0.data[3, 2] = 4.0


def by_transposed_memory(module):
    module.weight_hh_l0.data = noise(module.weight_hh_l0.T).T


optim = torch.optim
UPDATES = {
    "sgd": train(lambda p: optim.SGD(p, 0.1)), "sgd foreach": train(lambda p: optim.SGD(p, 0.1, 0.9, foreach=True)),
    "sgd fused": train(lambda p: optim.SGD(p, 0.1, 0.9, fused=True)), "adam": train(lambda p: optim.Adam(p, 0.01)),
    "adam foreach": train(lambda p: optim.Adam(p, 0.01, foreach=True)),
    "adam fused": train(lambda p: optim.Adam(p, 0.01, fused=True)),
    "adamw fused": train(lambda p: optim.AdamW(p, 0.01, fused=True)),
    "adagrad fused": train(lambda p: optim.Adagrad(p, 0.01, fused=True)),
    "rmsprop": train(lambda p: optim.RMSprop(p, 0.01)), "lbfgs": train(lambda p: optim.LBFGS(p, 0.1, 3)),
    "clamp_ of data": each(lambda p: p.data.clamp_(-0.1, 0.1)), "copy_ of data": each(lambda p: p.data.copy_(noise(p))),
    "lerp_ of data": each(lambda p: p.data.lerp_(noise(p), 0.5)), "mul_ of data": each(lambda p: p.data.mul_(0.5)),
    "add_ of foreach": by_foreach,
    "assigned data": each(lambda p: setattr(p, "data", noise(p))),
    "copy_": unrecorded(lambda p: p.copy_(noise(p))), "lerp_": unrecorded(lambda p: p.lerp_(noise(p), 0.5)),
    "detach": each(lambda p: p.detach().mul_(0.5)), "init of data": each(lambda p: nn.init.uniform_(p.data, -0.1, 0.1)),
    "init": each(lambda p: nn.init.normal_(p, 0, 0.2)), "reset_parameters": lambda module: module.reset_parameters(),
    "load_state_dict": by_state(False), "load_state_dict assign": by_state(True), "numpy": each(by_numpy),
    "dlpack": each(by_dlpack), "address": each(by_address), "storage": each(by_storage), "set_": each(by_set),
    "vector_to_parameters": by_vector, "swap_tensors": by_swap, "new parameters": by_new_parameters,
    "tied parameters": by_tied_parameters, "parametrization": by_parametrization, "weight_norm": by_weight_norm,
    "old weight_norm": by_old_weight_norm, "spectral_norm": by_spectral_norm, "pruning": by_pruning,
    "deep copy": by_copy, "pickle": by_pickle, "torch.save": by_file, "bfloat16": by_type(torch.bfloat16),
    "float16": by_type(torch.float16), "another process": by_another_process, "threads": by_threads,
    "mapped file": by_mapped_file, "average": by_average, "compiled step": by_compiled_step,
    "inference mode": by_inference_mode, "by hand": by_hand, "hook": by_hook, "bias": by_bias,
    "one element": by_one_element, "transposed memory": by_transposed_memory,
    "requires_grad_": lambda module: each(lambda p: p.data.mul_(0.5))(module.requires_grad_(False)),
    "apply": lambda module: module.apply(each(lambda p: p.data.mul_(0.5))),
}


SLOW = {"another process", "compiled step"}


@pytest.mark.parametrize("name, kind", [*((name, "LSTM") for name in UPDATES),
                                        *((name, "GRU") for name in UPDATES if name not in SLOW)])
@pytest.mark.filterwarnings("ignore")
def test_an_update(name, kind):
    torch.manual_seed(2)
    module = make(kind)
    before = check(module)
    module = UPDATES[name](module) or module
    after = check(module)
    assert (after - before).abs().max() > 1e-4, "the update changes results"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore")
def test_a_sequence_of_updates(seed):
    torch.manual_seed(seed)
    draw = random.Random(seed)
    names = sorted(set(UPDATES) - SLOW - {"requires_grad_"})
    module = make(draw.choice(["LSTM", "GRU", "RNN"]), num_layers=1 + seed % 2, bidirectional=seed % 3 == 0)
    for name in draw.choices(names, k=16):
        module = UPDATES[name](module) or module
        check(module)


def test_functional_call():
    module = make()
    check(module)
    parameters = {name: noise(parameter) for name, parameter in module.named_parameters()}
    for mode in (torch.no_grad, torch.inference_mode, torch.enable_grad):
        with mode():
            found = torch.func.functional_call(module, parameters, (X,))
            torch.testing.assert_close(tensors(found), tensors(reference(module, parameters)(X)), rtol=2e-4, atol=2e-4)
    check(module)


def test_updates_between_forward_and_validation():
    """The validation loss must decrease, with a fused optimizer and updates between forward and validation."""
    torch.manual_seed(0)
    module, target = make("LSTM", num_layers=1), torch.randn(5, 3, 6)
    optimizer, losses = torch.optim.Adam(module.parameters(), 0.01, fused=True), []
    for _ in range(5):
        optimizer.zero_grad()
        ((module.train()(X)[0] - target) ** 2).mean().backward()
        optimizer.step()
        with torch.no_grad():
            losses.append(((module.eval()(X)[0] - target) ** 2).mean().item())
            expected = ((reference(module)(X)[0] - target) ** 2).mean().item()
            assert abs(losses[-1] - expected) < 1e-4
    assert losses == sorted(losses, reverse=True) and losses[0] - losses[-1] > 0.01


# --- freeze() ---


def packed_input():
    return nn.utils.rnn.pack_sequence([torch.randn(n, 4) for n in (5, 3, 1)])


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_freeze(kind):
    module, packed = make(kind), packed_input()
    with torch.no_grad():
        expected, of_packed = module(X), module(packed)
        assert module.freeze() is module
        for _ in range(2):
            torch.testing.assert_close(tensors(module(X)), tensors(expected), rtol=1e-5, atol=1e-5)
            each(lambda p: p.data.mul_(0.5))(module)
        torch.testing.assert_close(module(packed)[0].data, of_packed[0].data, rtol=1e-5, atol=1e-5)
        for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
            check(copied)
        assert module.unfreeze() is module
        check(module)
        module.unfreeze()
        module.freeze()
        torch.testing.assert_close(tensors(module(X)), tensors(reference(module)(X)), rtol=2e-4, atol=2e-4)
    module.unfreeze()
    check(module)


def test_a_frozen_layer_refuses():
    module = make().freeze()
    with pytest.raises(quern.Error, match="no_grad"):
        module(X)
    with torch.no_grad():
        parameters = {name: noise(parameter) for name, parameter in module.named_parameters()}
        with pytest.raises(quern.Error, match="unfreeze"):
            torch.func.functional_call(module, parameters, (X,))
        module(X)
        by_new_parameters(module)
        with pytest.raises(quern.Error, match="unfreeze"):
            module(X)
        module.unfreeze()
        check(module)
    module.requires_grad_(False).freeze()(X)
    with pytest.raises(quern.Error, match="no_grad"):
        module(X.clone().requires_grad_())


def test_a_frozen_layer_is_freed():
    import gc
    import weakref
    module = make().freeze()
    with torch.no_grad():
        module(X)
        module(packed_input())
    layer = weakref.ref(module._quern_frozen.layers[0])
    module.unfreeze()
    gc.collect()
    assert layer() is None
