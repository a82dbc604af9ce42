import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlane, type TestPlane } from '../support/plane.ts'
import { openBrowser, Visitor } from './support/browser.ts'

describe('[UI-4, UI-5] the console', () => {
  let plane: TestPlane
  let browser: Browser
  beforeAll(async () => {
    ;[plane, browser] = await Promise.all([startPlane({ args: ['--simulate-gpus', 'NVIDIA L4:1'] }), openBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await plane?.stop()
  })

  test('takes a key, shows the account, and forgets it at sign-out', async () => {
    const visitor = await Visitor.open(browser, plane)
    await visitor.go('/console/pods')
    await visitor.heading('Sign in to podplane')
    await visitor.expectAccessible('sign-in')
    await visitor.picture('sign-in')
    await visitor.signIn(plane.apiKey, '/console/pods')
    await visitor.heading('Pods')
    await visitor.expectAccessible('shell')
    expect(visitor.complaints).toEqual([])
    await visitor.page.getByRole('button', { name: /^Account/ }).click()
    await visitor.page.getByRole('menuitem', { name: 'Sign out' }).click()
    await visitor.heading('Sign in to podplane')
    await visitor.close()
  })

  test('a wrong key is refused in words, and leaves no session', async () => {
    const visitor = await Visitor.open(browser, plane)
    await visitor.go('/console')
    await visitor.page.getByLabel('API key').fill(`${plane.apiKey.slice(0, -1)}${plane.apiKey.endsWith('x') ? 'y' : 'x'}`)
    await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await visitor.page.getByRole('alert').waitFor()
    expect(await visitor.context.cookies()).toEqual([])
    await visitor.close()
  })

  test('its page runs nothing but its own scripts', async () => {
    const answer = await fetch(`${plane.url}/console/any/where`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';")
    const script = (await answer.text()).match(/src="([^"]+\.js)"/)?.[1] ?? ''
    const hashed = await fetch(plane.url + script)
    expect([hashed.status, hashed.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect((await fetch(`${plane.url}/console/assets/none.js`)).status).toBe(404)
    const offline = await fetch(`${plane.url}/console/offline.js`)
    const { headers } = offline
    expect([offline.status, headers.get('cache-control'), headers.get('service-worker-allowed')]).toEqual([200, 'no-cache', '/console'])
    expect(headers.get('content-type')).toContain('javascript')
  })
})
