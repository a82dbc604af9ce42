import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from '../pages/account/routes.ts'
import { clusterRoutes } from '../pages/clusters/routes.ts'
import { endpointRoutes } from '../pages/endpoints/routes.ts'
import { homeRoutes } from '../pages/home/routes.ts'
import { jobRoutes } from '../pages/jobs/routes.ts'
import { logRoutes } from '../pages/logs/routes.ts'
import { operatorRoutes } from '../pages/operator/routes.ts'
import { podRoutes } from '../pages/pods/routes.ts'
import { resourceRoutes } from '../pages/resources/routes.ts'
import { deviceRoutes, signInRoutes } from '../pages/sign-in/routes.ts'
import { usageRoutes } from '../pages/usage/routes.ts'
import { NotFound } from '../shell/not-found.tsx'
import { rootRoute, shellRoute } from '../shell/root.tsx'

/** One list per area; each names its pages, which are loaded on first use. */
const pages = [
  ...homeRoutes,
  ...podRoutes,
  ...clusterRoutes,
  ...endpointRoutes,
  ...jobRoutes,
  ...resourceRoutes,
  ...logRoutes,
  ...usageRoutes,
  ...accountRoutes,
  ...operatorRoutes,
  ...deviceRoutes,
]

export const router = createRouter({
  routeTree: rootRoute.addChildren([...signInRoutes, shellRoute.addChildren(pages)]),
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
})
