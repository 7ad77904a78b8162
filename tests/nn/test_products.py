"""The fast products against torch's own."""

import pytest
import torch
from torch.nn.functional import linear as torch_linear

from swag_af.nn import products


@pytest.fixture(params=[True, False], ids=["onednn", "torch"])
def kernels(request, monkeypatch):
    if request.param and not products.has_onednn():
        pytest.skip("this torch has no oneDNN")
    monkeypatch.setattr(products, "has_onednn", lambda: request.param)


@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 3, 5), (7, 64, 33), (256, 96, 1000)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_both_products_are_fp32_products(kernels, rows, inputs, outputs, with_bias):
    torch.manual_seed(0)
    x, weight = torch.randn(rows, inputs), torch.randn(outputs, inputs)
    bias = torch.randn(outputs) if with_bias else None
    exact = torch_linear(x.double(), weight.double(), None if bias is None else bias.double()).float()
    for made in (products.multiply(x, weight, bias), products.PackedLinear(weight, bias, rows=rows)(x)):
        torch.testing.assert_close(made, exact, rtol=1e-5, atol=1e-5)


def test_a_row_of_a_product_does_not_depend_on_the_other_rows(kernels):
    torch.manual_seed(0)
    product = products.PackedLinear(torch.randn(300, 64), torch.randn(300), rows=256)
    one, two = torch.randn(256, 64), torch.randn(256, 64)
    two[100] = one[7]
    assert torch.equal(product(one)[7], product(two)[100])


def test_bf16_rounds_and_returns_fp32(kernels):
    torch.manual_seed(0)
    x, weight, bias = torch.randn(8, 64), torch.randn(50, 64), torch.randn(50)
    made = products.PackedLinear(weight, bias, rows=8, dtype=torch.bfloat16)(x)
    assert made.dtype == torch.float32
    torch.testing.assert_close(made, torch_linear(x, weight, bias), rtol=0.05, atol=0.2)
    assert not torch.equal(made, torch_linear(x, weight, bias))


@pytest.mark.parametrize("with_bias", [True, False])
def test_a_product_in_bf16_sums_in_fp32_and_returns_it(has_bf16, with_bias):
    torch.manual_seed(0)
    x, weight = torch.randn(8, 640), torch.randn(50, 640)
    bias = torch.randn(50) if with_bias else None
    made = products.multiply(x, weight, bias, dtype=torch.bfloat16)
    rounded = [None if one is None else one.bfloat16().double() for one in (x, weight, bias)]
    assert made.dtype == torch.float32
    # One rounding at the end, of what is summed exactly, nearly.
    torch.testing.assert_close(made.double(), torch_linear(*rounded), rtol=2**-8, atol=1e-2)


def test_a_weight_that_learns_gives_a_product_without_gradient(kernels):
    weight = torch.nn.Parameter(torch.randn(4, 3))
    assert not products.multiply(torch.randn(2, 3), weight).requires_grad


def test_numbers_of_rows_are_few_and_little_is_multiplied_for_nothing():
    made = {n: products.round_number(n) for n in range(1, 5000)}
    assert all(n <= up <= n + max(15, n / 8) for n, up in made.items())
    assert all(made[up] == up for up in made.values() if up in made)
    assert len({up for up in made.values() if up <= 2048}) < 50
    assert [made[n] for n in (1, 160, 170, 560, 1150, 2049)] == [16, 160, 176, 576, 1152, 2304]


@pytest.mark.parametrize("rows", [5, 160, 170])
def test_rows_that_fill_up_change_nothing(kernels, rows):
    torch.manual_seed(0)
    x, layer = torch.randn(rows, 40, requires_grad=True), products.Linear(40, 24)
    made = layer(x)
    torch.testing.assert_close(made, torch_linear(x, layer.weight, layer.bias), rtol=1e-5, atol=1e-5)
    above = torch.randn(rows, 24)
    (gradient,) = torch.autograd.grad(made, layer.weight, above)
    torch.testing.assert_close(gradient, above.T @ x.detach(), rtol=1e-4, atol=1e-4)
