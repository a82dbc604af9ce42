import { admin, describe, expect, it } from '../../../support/harness.ts'
import { gpus } from '../../../support/hosts/gpus.ts'
import { podScene } from '../../../support/pods/pod-scene.ts'

/** Red text, right-to-left text, a line break and characters of zero width. */
const EVIL = '\u001b[31mimage pull failed\u202e:\nstatus: RUNNING\u200b\u0007'
const SHOWN = /^ \[31mimage pull failed : status: RUNNING $/

describe('texts of a host', () => {
  it('[HOST-190] [S18] are stored without characters that control a terminal or reverse the text around them', async () => {
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

  it("[S17] [EDG-6] of an older agent lose paths and addresses of its host; those of a started program are the tenant's", async () => {
    const scene = await podScene(gpus(2))
    const [failed, ran] = [await scene.create(), await scene.create()]
    const said =
      'error mounting "/run/podplane/7e11aa/p" to rootfs at "/data": dial tcp 10.1.2.3:2049, /var/lib/docker/overlay2/ab/merged: denied'
    await scene.host.report(`${failed.id}-1`, { state: 'error', reason: said })
    const words =
      'error mounting "(a path of the host)" to rootfs at "/data": dial tcp (an address of the host), (a path of the host): denied'
    expect((await scene.get(failed.id)).statusReason).toBe(words)
    const own = 'exited with code 1: open /var/lib/docker/x: no such file on 10.1.2.3'
    await scene.run(ran.id)
    await scene.host.report(`${ran.id}-1`, { state: 'exited', exitCode: 1, reason: own })
    expect((await scene.get(ran.id)).statusReason).toBe(own)
    scene.leave()
  })
})
