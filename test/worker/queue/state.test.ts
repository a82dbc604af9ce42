import { createAccount, createEndpoint, env, it, runInDurableObject } from '../../support/harness.ts'
import { STATE_CASES } from '../../support/queue-state.ts'
import { endpointStub } from '../../support/stubs.ts'

it.each(STATE_CASES)('the tables of an endpoint object: $title', async ({ check }) => {
  const { key } = await createAccount()
  const stub = endpointStub(env, `${await createEndpoint(key)}-of-its-own`)
  // Rolled back at the end, so that the object itself sees nothing of it.
  await runInDurableObject(stub, ({ core }) => {
    const undo = new Error('undo')
    try {
      core.ctx.storage.transactionSync(() => {
        check(core.state)
        throw undo
      })
    } catch (error) {
      if (error !== undo) throw error
    } finally {
      core.state.reload()
    }
  })
})
