import { gpus } from '../../support/gpus.ts'
import { admin, describe, expect, it } from '../../support/harness.ts'
import { podScene } from '../../support/pod-scene.ts'

/** Red text, a text turned around, a line of its own, and nothing that has a width. */
const EVIL = '\u001b[31mimage pull failed\u202e:\nstatus: RUNNING\u200b\u0007'
const SHOWN = /^ \[31mimage pull failed : status: RUNNING $/

describe('words of a host', () => {
  it('[HOST-190] [S18] are stored without what would write to a terminal or turn the text around them', async () => {
    const scene = await podScene(gpus(1))
    const { id } = await scene.create()
    await scene.host.waitFor((workload) => workload.id === `${id}-1`)
    await scene.host.report(`${id}-1`, { state: 'error', reason: EVIL })
    const pod = await scene.get(id)
    expect(pod.statusReason).toMatch(SHOWN)
    const { body } = await admin().get('/admin/v1/hosts')
    expect(JSON.stringify(body)).not.toMatch(/\\u001b|\u202e/)
    scene.leave()
  })
})
