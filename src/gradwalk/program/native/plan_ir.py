"""The functions of a checkpoint plan as LLVM IR: see `checkpoint_plan.py`."""

# Type of an action: its counters from `steps` on (see `ActionCounters`), then the last step that is left after the
# action, and the row that the next action starts from, unless it comes after this step.
ACTION = "{i64, i64, i64, i64, i64, i64, i64, i64}"
PLAN = f"""\
define internal i64 @distance(i64 %length, i64 %free) noinline {{
begin:
  %runs_first = add i64 %free, 2
  br label %test
test:
  %runs = phi i64 [ 1, %begin ], [ %more, %next ]
  %distance = phi i64 [ 1, %begin ], [ %reached, %next ]
  %reached = phi i64 [ %runs_first, %begin ], [ %further, %next ]
  %is_left = icmp slt i64 %reached, %length
  br i1 %is_left, label %next, label %end
next:
  %more = add i64 %runs, 1
  %sum = add i64 %free, 1
  %factor = add i64 %sum, %more
  %product = mul i64 %reached, %factor
  %further = sdiv i64 %product, %more
  br label %test
end:
  %slots = add i64 %free, 1
  %both = add i64 %free, %runs
  %scaled = mul i64 %distance, %slots
  %part = sdiv i64 %scaled, %both
  %rest = sub i64 %length, %part
  %found = call i64 @llvm.smin.i64(i64 %distance, i64 %rest)
  %is_only = icmp eq i64 %free, 0
  %whole = sub i64 %length, 1
  %result = select i1 %is_only, i64 %whole, i64 %found
  ret i64 %result
}}
define internal i64 @binomial_slots(i64 %steps) noinline {{
begin:
  br label %test
test:
  %slots = phi i64 [ 1, %begin ], [ %more, %next ]
  %reached = phi i64 [ 2, %begin ], [ %further, %next ]
  %is_left = icmp slt i64 %reached, %steps
  br i1 %is_left, label %next, label %end
next:
  %more = add i64 %slots, 1
  %double = shl i64 %more, 1
  %odd = sub i64 %double, 1
  %factor = shl i64 %odd, 1
  %product = mul i64 %reached, %factor
  %further = sdiv i64 %product, %more
  br label %test
end:
  ret i64 %slots
}}
define internal {ACTION} @action(i64 %last, i64 %begin, i64 %row, i64 %slots) noinline {{
  %free = sub i64 %slots, %row
  %left = sub i64 %last, %begin
  %length = add i64 %left, 1
  %between = sub i64 %left, 1
  %keeps = icmp sge i64 %free, %between
  %distance = call i64 @distance(i64 %length, i64 %free)
  %count = select i1 %keeps, i64 %left, i64 %distance
  %end = add i64 %begin, %count
  %is_before = icmp slt i64 %end, %last
  %advances = select i1 %keeps, i1 false, i1 %is_before
  %kept = zext i1 %keeps to i64
  %base = mul i64 %kept, %row
  %next_row = add i64 %row, 1
  %row_of_end = add i64 %row, %count
  %other_row = select i1 %advances, i64 %next_row, i64 0
  %after = select i1 %keeps, i64 %row_of_end, i64 %other_row
  %all = add i64 %count, 1
  %other_backs = select i1 %advances, i64 0, i64 1
  %backs = select i1 %keeps, i64 %all, i64 %other_backs
  %back_begin = select i1 %keeps, i64 %begin, i64 %end
  %done = sub i64 %last, %backs
  %top = select i1 %advances, i64 %next_row, i64 %row
  %f0 = insertvalue {ACTION} poison, i64 %count, 0
  %f1 = insertvalue {ACTION} %f0, i64 %kept, 1
  %f2 = insertvalue {ACTION} %f1, i64 %base, 2
  %f3 = insertvalue {ACTION} %f2, i64 %after, 3
  %f4 = insertvalue {ACTION} %f3, i64 %backs, 4
  %f5 = insertvalue {ACTION} %f4, i64 %back_begin, 5
  %f6 = insertvalue {ACTION} %f5, i64 %done, 6
  %f7 = insertvalue {ACTION} %f6, i64 %top, 7
  ret {ACTION} %f7
}}"""
