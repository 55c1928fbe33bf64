# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test format of lit.cfg.py, in a separate module because lit's workers import it by name."""

import copy
import shutil

import lit.formats


class QuernTest(lit.formats.ShTest):
    """A shell test whose QUERN_CACHE_DIR is a new directory next to its temporary files."""

    def execute(self, test, litConfig):
        cache = test.getExecPath() + ".cache"
        shutil.rmtree(cache, ignore_errors=True)
        test.config = copy.copy(test.config)
        test.config.environment = dict(test.config.environment, QUERN_CACHE_DIR=cache)
        return super().execute(test, litConfig)
