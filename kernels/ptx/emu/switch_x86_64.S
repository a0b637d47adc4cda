// void lk_emu_switch(void** save, void* load): leaves the current stack, which resumes when its
// saved pointer is loaded, and continues on the other. Only what a call preserves is kept; the
// signal mask is not, which is where swapcontext loses its 500 ns.
#if defined(__x86_64__)
    .text
    .globl  lk_emu_switch
    .hidden lk_emu_switch
    .type   lk_emu_switch, @function
lk_emu_switch:
    pushq   %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    movq    %rsp, (%rdi)
    movq    %rsi, %rsp
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    retq
    .size   lk_emu_switch, .-lk_emu_switch
#endif
    .section .note.GNU-stack, "", @progbits
