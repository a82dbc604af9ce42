import { ApiError } from '../../src/client/client.ts'
import { roomWaiter } from '../../src/local/wait-for-room.ts'
import { describe, expect, it } from '../support/unit.ts'

const full = () =>
  new ApiError(
    'POST /admin/v1/sign-in-links',
    new Response(null, { status: 503 }),
    JSON.stringify({ detail: 'no room', code: 'STORAGE_FULL' }),
  )
const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

/** A step that throws these errors, one each time, and is done then. */
function stepAfter(...errors: Error[]) {
  return async () => {
    const error = errors.shift()
    if (error !== undefined) throw error
    return 'done'
  }
}

describe('[PLANE-12] a start on a full disk', () => {
  it('continues once there is room, and reports once that it waits', async () => {
    let waits = 0
    const withRoom = roomWaiter(
      () => waits++,
      () => false,
      1,
    )
    expect(await withRoom(stepAfter(full(), noSpace(), full()))).toBe('done')
    expect(await withRoom(stepAfter(full()))).toBe('done')
    expect(waits).toBe(1)
  })

  it('fails with any other error, and with that of the disk during a shutdown', async () => {
    const refused = new ApiError('POST /v2/endpoints', new Response(null, { status: 503 }), '{}')
    const never = () => expect.unreachable()
    await expect(roomWaiter(never, () => false)(stepAfter(refused))).rejects.toBe(refused)
    await expect(roomWaiter(never, () => true)(stepAfter(full()))).rejects.toThrow('503')
  })
})
