"""The results folder of runs: generations, judgements, events and results.

::

    results/
      generations/<skill>/<key>.json   one answer of a model
      judgements/<skill>/<key>.json    one comparison of two answers, in one order
      events.jsonl                     events, appended as they happen
      <type>_<run_id>.json             the results of one run

A copy of this folder replays to the same results on another machine.
"""
