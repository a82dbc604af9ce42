import { test } from 'vitest'
import { MemoryState } from '../support/queue/memory-state.ts'
import { STATE_CASES } from '../support/queue/queue-state.ts'

test.each(STATE_CASES)('a state in memory: $title', ({ check }) => {
  check(new MemoryState())
})
