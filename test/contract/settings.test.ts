import { type Env, readSettings } from '../../src/env.ts'
import { describe, expect, it } from '../support/unit.ts'

const settings = (vars: Partial<Env>) => readSettings(vars as Env)

describe('settings', () => {
  it.each([
    ['1', 64],
    ['2', 2],
    ['128', 128],
    ['129', 64],
    ['4.5', 64],
    ['', 64],
    [undefined, 64],
  ])('[PP-31] WEBHOOKS_PER_RECEIVER %j makes %i', (text, places) => {
    expect(settings(text === undefined ? {} : { WEBHOOKS_PER_RECEIVER: text }).webhooksPerReceiver).toBe(places)
  })
})
