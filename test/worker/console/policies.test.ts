import { notElsewhere, scriptSource } from '../../../src/http/pages/script-source.ts'
import { describe, expect, it, ORIGIN, send } from '../../support/harness.ts'

const HOST = new URL(ORIGIN).host
const scriptsOf = async (path: string) => {
  const answer = await send(path)
  await answer.body?.cancel()
  const sources = /(?:^|; )script-src ([^;]*)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1]?.split(' ')
  return sources
}

describe('pages of the plane', () => {
  it.each(['/console', '/console/pods', '/console/sign-in', '/console/load-again.js', '/console/offline.js'])(
    '[S19] [EDG-12] %s runs the console’s own scripts and none that a tenant serves',
    async (path) => {
      expect(await scriptsOf(path)).toEqual(['/console/assets/', '/console/offline.js', '/console/load-again.js'].map((own) => HOST + own))
    },
  )

  it('[S19] [EDG-12] the reference runs its one script', async () => {
    expect(await scriptsOf('/docs')).toEqual([`${HOST}/reference/redoc.standalone.js`])
  })

  it('[EDG-12] a policy contains no path of a tenant, whatever the name of the plane', () => {
    expect(scriptSource('https://plane.example.com:8443/console', ['/a/'])).toBe('script-src plane.example.com:8443/a/')
    expect(scriptSource('http://[::1]:8787/console', ['/a/'])).toBe("script-src 'self'")
  })

  it('[EDG-12] no script is redirected: a browser does not compare the path of a redirect', async () => {
    const led = new Response(null, { status: 302, headers: { Location: '/proxy/evil/80/x.js' } })
    expect([notElsewhere(led).status, notElsewhere(led).headers.get('location')]).toEqual([404, null])
    for (const status of [200, 304, 404]) expect(notElsewhere(new Response(null, { status })).status).toBe(status)
    for (const path of [
      '/console/assets/..%2f..%2fproxy%2fx%2f80%2f',
      '/console/assets/%2e%2e/%2e%2e/proxy/x/80/',
      '/console/assets//proxy/x/80/',
    ]) {
      const answer = await send(path, { redirect: 'manual' })
      await answer.body?.cancel()
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 404, null])
    }
  })
})
