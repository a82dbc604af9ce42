import { createRoute, createRouter } from '@tanstack/react-router'
import { HomePage } from '../pages/home/home.tsx'
import { podRoutes } from '../pages/pods/routes.ts'
import { signInRoutes } from '../pages/sign-in/routes.ts'
import { NotFound } from './not-found.tsx'
import { rootRoute, shellRoute } from './root.tsx'

const homeRoute = createRoute({ getParentRoute: () => shellRoute, path: '/console', component: HomePage })

/** One list an area; each names its own pages and loads them when they are first looked at. */
const pages = [homeRoute, ...podRoutes]

export const router = createRouter({
  routeTree: rootRoute.addChildren([...signInRoutes, shellRoute.addChildren(pages)]),
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
})
