import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiClient } from '../../../src/client/client.ts'
import { startDeviceLogin } from '../../../src/client/device.ts'
import { BUILD_TIMEOUT_MS, busyboxImage } from '../support/agent/worker-image.ts'
import { hostIsOnline, startPlane, type TestPlane } from '../support/plane/plane.ts'
import { podBody, TestPod } from '../support/plane/pods.ts'
import { openBrowser, Visitor } from './support/browser.ts'
import { addressesOf, isRead, lead, PATIENCE_MS } from './support/walk.ts'

// Text from tenants is plain text on every page that shows it, the operator's too.

const MARKUP = '\'"><svg/onload=window.__xss=1><img src=x onerror=window.__xss=1>'
const BUTTONS = /^(Delete|Terminate|Rename|Edit)\b/
const EVERYTHING = `[document.body.textContent, ...Array.from(document.querySelectorAll('input, textarea'), ({ value }) => value)].join('\\n')`
const RUNS = `[window.__xss ?? null, document.querySelectorAll('[href^="javascript:" i], [src=x]').length]`

/** Fields with a format that excludes markup. */
const REFUSED: Readonly<Record<string, readonly [path: string, body: (text: string) => Record<string, unknown>]>> = {
  'name of a secret': ['/v2/account/secrets', (name) => ({ name, value: 'x' })],
  'name of a variable': ['/v2/templates', (name) => ({ name: 'x', image: 'builtin/idle', env: { [name]: 'x' } })],
  'port of a template': ['/v2/templates', (port) => ({ name: 'x', image: 'builtin/idle', ports: [port] })],
  'image of a template': ['/v2/templates', (image) => ({ name: 'x', image })],
  'category of a template': ['/v2/templates', (category) => ({ name: 'x', image: 'builtin/idle', category })],
  'host of a registry': ['/v2/registries', (host) => ({ name: 'x', host, username: 'x', password: 'x' })],
  'scope of a key': ['/v2/account/keys', (scope) => ({ name: 'x', permission: 'RESTRICTED', scopes: [scope] })],
  'webhook of a job': ['/v2/{endpoint}/run', (webhook) => ({ input: {}, webhook })],
  'data center of a volume': ['/v2/network-volumes', (dataCenter) => ({ name: 'x', size: 10, dataCenter })],
}

/** Writes markup into every field that a tenant may write; `written` is the end of each field's text. */
async function write(plane: TestPlane) {
  const api = createApiClient(plane.url, plane.apiKey)
  const operator = createApiClient(plane.url, plane.operatorKey)
  const written = ['=1>variable; of the log']
  const mark = (field: string) => {
    written.push(`=1>${field};`)
    return `${MARKUP}${field};`
  }
  const email = (field: string) => `${mark(field).replaceAll(' ', '/')}@example.com`
  const template = await api.createTemplate({
    body: { name: mark('template'), image: 'builtin/idle', env: { A: mark('template-variable') }, cmd: [mark('template-command')] },
  })
  const endpoint = await api.createEndpoint({
    body: {
      ...{ name: mark('endpoint'), image: 'builtin/probe', env: { A: mark('endpoint-variable') } },
      ...{ cpu: [{ id: 'cpu3c', vcpuCount: 2 }], disk: 1, workers: { min: 0, max: 1 } },
    },
  })
  const path = { endpointId: endpoint.id }
  const webhook = `https://hooks.example.com/?${MARKUP.replaceAll(' ', '/')}`
  const job = await api.runJobSync({ path, body: { input: { [mark('member')]: mark('input') }, webhook } })
  const failed = await api.runJobSync({ path, body: { input: { fail: mark('error') } } })
  const [{ workers }, { hosts }, { users }] = await Promise.all([
    api.listEndpointWorkers({ path: { id: endpoint.id } }),
    operator.listHosts(),
    operator.listUsers(),
  ])
  const printing = 'echo "$LINE of the log"; trap "exit 0" TERM; busybox sleep 600 & wait $!'
  const pod = await TestPod.run(plane, podBody(await busyboxImage(), printing, { name: mark('pod'), env: { LINE: mark('variable') } }))
  const compute = { gpuTypeId: 'NVIDIA L4', gpuCountPerPod: 1, podCount: 2 }
  const cluster = await api.createCluster({ body: { name: mark('cluster'), type: 'TRAINING', image: 'builtin/idle', compute } })
  await api.createNetworkVolume({ body: { name: mark('volume'), size: 10, dataCenter: hosts[0]?.dataCenterId ?? '' } })
  await api.createRegistry({ body: { name: mark('registry'), username: MARKUP, password: MARKUP } })
  await api.createSecret({ body: { name: 'A', value: MARKUP, description: mark('secret') } })
  await api.createAccountKey({ body: { name: mark('key') } })
  await api.putSshKeys({
    body: { keys: [`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0b7Yt2mJk1c9vV5m4wq8n3x6z0s2d4f6g8h0j2k4l6 ${mark('comment')}`] },
  })
  const organization = await api.createOrganization({ body: { name: mark('organization') } })
  await api.createInvitation({ path: organization, body: { email: email('invitation'), role: 'BASIC' } })
  await operator.createUser({ body: { email: email('user') } })
  const device = await startDeviceLogin(plane.url, mark('device'))
  const things = { pod: pod.id, cluster: cluster.id, endpoint: endpoint.id, job: job.id, worker: workers[0]?.id, template: template.id }
  const addresses = addressesOf({ ...things, host: hosts[0]?.id, account: users[0]?.id })
  const failure = `/console/endpoints/${endpoint.id}/jobs/${failed.id}`
  return { pod, written, addresses: [...addresses, failure, device.verification_uri_complete.slice(plane.url.length)] }
}

describe('markup that tenants write', () => {
  let plane: TestPlane
  let browser: Browser
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:3'] }), openBrowser()])
    await hostIsOnline(plane)
  }, BUILD_TIMEOUT_MS)
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  test(`[EDG-12] is refused by ${Object.keys(REFUSED).length} fields with a format`, async () => {
    const api = createApiClient(plane.url, plane.apiKey)
    for (const [path, body] of Object.values(REFUSED)) {
      const answer = api.request('POST', path.replace('{endpoint}', plane.endpointId), body(MARKUP))
      await expect(answer, path).rejects.toMatchObject({ status: expect.toSatisfy((status) => [400, 422].includes(status)) })
    }
  })

  test('[EDG-12] [UI-40] is plain text on every page, in every tab and in confirmation dialogs', async () => {
    const { pod, written, addresses } = await write(plane)
    const visitor = await Visitor.open(browser, plane)
    const { page } = visitor
    page.setDefaultTimeout(PATIENCE_MS)
    await visitor.signInByLink(plane)
    let shown = ''
    const check = async (what: string) => {
      await isRead(page, what)
      expect(await page.evaluate(RUNS), what).toEqual([null, 0])
      // The audit log contains every field; each field must also appear on its own page.
      if (what !== '/console/audit') shown += await page.evaluate(EVERYTHING)
    }
    for (const path of addresses) {
      await lead(page, path)
      await check(path)
      for (const tab of (await page.getByRole('tab').all()).slice(1)) {
        await tab.click()
        await check(`${path} ${await tab.innerText()}`)
      }
      await asks(page, () => check(`${path}, a question`))
    }
    await lead(page, `/console/logs?of=pod%2F${pod.id}`)
    await page.getByText('variable; of the log').waitFor()
    await check('a log')
    expect(written.filter((text) => !shown.includes(text))).toEqual([])
    expect(visitor.complaints).toEqual([])
    await visitor.close()
    await pod.terminate()
  })
})

/** Opens the confirmation dialogs of a page, and cancels them. */
async function asks(page: Page, check: () => Promise<void>): Promise<void> {
  const button = page.locator('main').getByRole('button', { name: BUTTONS, disabled: false }).first()
  if ((await button.count()) === 0) return
  await button.click()
  await page.getByRole('dialog').waitFor()
  await check()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
