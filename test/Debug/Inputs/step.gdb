# Breaks on a kernel, steps over a line of its schedule, and prints its arguments.
set pagination off
set confirm off
set width 0
set debuginfod enabled off
set breakpoint pending on
break softmax_kernel
run
info args
print args->buffers[1]
info symbol $pc
next
next
next
next
next
print *src@4
print dst
info source
backtrace 2
info breakpoints
delete
continue
info functions softmax_kernel
