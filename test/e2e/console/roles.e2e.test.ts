import { expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { waitUntil } from '../../support/time.ts'
import { startPlane } from '../support/plane/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'

test('[UI-84] the log of a pod is requested once while the page polls the pod, and keeps its lines', async () => {
  const [plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
  try {
    const gpu = { id: 'NVIDIA L4', count: 1 }
    const api = createApiClient(plane.url, plane.apiKey)
    const pod = await api.createPod({ body: { name: 'box', image: 'builtin/idle', gpu } })
    const visitor = await Visitor.open(browser, plane)
    await visitor.signInByLink(plane)
    const asked: string[] = []
    visitor.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await visitor.go(`/console/pods/${pod.id}?tab=logs`)
    await visitor.page.getByRole('grid').waitFor()
    const polls = () => asked.filter((path) => path === `/v2/pods/${pod.id}`).length
    for (const change of ['a', 'b']) {
      // Only a poll that brings something new draws the page again.
      await api.updatePod({ path: { id: pod.id }, body: { labels: { change } } })
      const before = polls()
      await waitUntil('two more polls of the pod', () => polls() > before + 1)
    }
    expect(asked.filter((path) => path === `/v2/pods/${pod.id}/logs`)).toHaveLength(1)
    await visitor.close()
  } finally {
    await browser.close()
    await plane.stop()
  }
})
