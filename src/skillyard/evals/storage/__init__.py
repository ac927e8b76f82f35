"""What a run keeps on disk: generations, judgements, events and results.

::

    results/
      generations/<skill>/<key>.json   one answer of a model
      judgements/<skill>/<key>.json    one comparison of two answers, in one order
      events.jsonl                     what happened, appended as it happens
      <type>_<run_id>.json             the results of one run

A copy of this folder replays to the same results on another machine.
"""
