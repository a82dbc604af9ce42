import { expect, test } from 'vitest'
import { eventText, readLastSeen, wantsEvents } from '../../../src/domain/text/sse.ts'

test('[STR-10] an event has its id, its name and its data, and ends with a blank line', () => {
  expect(eventText('{"output":1}', { id: 7 })).toBe('id: 7\ndata: {"output":1}\n\n')
  expect(eventText('{}', { event: 'end' })).toBe('event: end\ndata: {}\n\n')
})

test('[STR-10] a line break in the data, of any kind, starts a further data line', () => {
  expect(eventText('{\n"a":\r\n1\r}')).toBe('data: {\ndata: "a":\ndata: 1\ndata: }\n\n')
})

test('[STR-10] events are sent to clients that accept them', () => {
  expect(wantsEvents('text/event-stream')).toBe(true)
  expect(wantsEvents('application/json, text/event-stream;q=0.9')).toBe(true)
  for (const accept of [null, '', '*/*', 'application/json', 'text/*']) expect(wantsEvents(accept), String(accept)).toBe(false)
})

test('[STR-10, STR-21] the id of a reconnecting client is newer than the one in its URL', () => {
  expect(readLastSeen(null, 0)).toBe(0)
  expect(readLastSeen(null, 3)).toBe(3)
  expect(readLastSeen('5', 3)).toBe(5)
  expect(readLastSeen('', 3)).toBe(3)
})

test('[STR-21] an unreadable id means from the start', () => {
  for (const value of ['-1', '1.5', 'x', '1e3', '9'.repeat(16)]) expect(readLastSeen(value, 0), value).toBe(0)
})
