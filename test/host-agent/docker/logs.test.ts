import { test } from 'vitest'
import { parseDockerLogs } from '../../../src/host-agent/docker/streams/logs.ts'

test('output frames are decoded; a terminal has none', ({ expect }) => {
  const frame = (stream: number, payload: string) =>
    Buffer.concat([Buffer.from([stream, 0, 0, 0, 0, 0, 0, payload.length]), Buffer.from(payload)])
  expect(parseDockerLogs(Buffer.concat([frame(1, 'out\n'), frame(2, 'err\n')]))).toEqual(['out', 'err', ''])
  expect(parseDockerLogs(Buffer.from('plain text\n'))).toEqual(['plain text', ''])
})
