import type { Page } from 'playwright-core'
import { router } from '../../../../src/console/app/router.tsx'
import { waitUntil } from '../../../support/time.ts'

// Every page of the console, by the navigation of the console itself.

export const PATIENCE_MS = 5_000
/** A page reads its data in less than a second; on a busy machine in much more. */
const READ_LIMIT_MS = 30_000
/** All routes of the router: a new page need not be named here. A signed-in user is redirected from the sign-in. */
export const ROUTES = Object.keys(router.routesByPath).filter((path) => path !== '/' && path !== '/console/sign-in')

/** Opens an address as a link of the page does, without reloading the page, and waits until another page's heading is shown. */
export async function lead(page: Page, path: string): Promise<void> {
  if (new URL(page.url()).pathname === path) return
  await page.evaluate(`document.querySelector('h1')?.setAttribute('data-left', ''); history.pushState({}, '', ${JSON.stringify(path)})`)
  await page.locator('h1:not([data-left])').waitFor()
}

/** Waits until a page shows its data. */
export async function isRead(page: Page, path: string): Promise<void> {
  await waitUntil(`${path} has read what it shows`, async () => (await page.getByText('Loading').count()) === 0, READ_LIMIT_MS)
}

/** The ids in the addresses of single resources' pages. */
export interface Things {
  pod: string
  cluster: string
  endpoint: string
  job: string
  worker: string | undefined
  template: string
  host: string | undefined
  account: string | undefined
}

/** The address of every page. */
export function addressesOf({ pod, cluster, endpoint, job, worker, template, host, account }: Things): string[] {
  const ids: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
    '/console/pods/$id': { id: pod },
    '/console/clusters/$id': { id: cluster },
    '/console/endpoints/$id': { id: endpoint },
    '/console/endpoints/$id/jobs/$jobId': { id: endpoint, jobId: job },
    '/console/endpoints/$id/workers/$workerId': { id: endpoint, workerId: worker },
    '/console/templates/$id': { id: template },
    '/console/operator/hosts/$id': { id: host },
    '/console/operator/accounts/$id': { id: account },
  }
  return ROUTES.map((route) =>
    route.replaceAll(/\$(\w+)/g, (_, name: string) => {
      const id = ids[route]?.[name]
      if (id === undefined) throw new Error(`make something for the page ${route} to show`)
      return id
    }),
  )
}
