import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute, shellRoute } from '../../app/root.tsx'
import { SignInPage } from './sign-in-page.tsx'

export const signInRoutes = [createRoute({ getParentRoute: () => rootRoute, path: '/console/sign-in', component: SignInPage })]

/** Asks who signs in first: whoever lets a device in has to be somebody. */
export const deviceRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/console/device',
    component: lazyRouteComponent(() => import('./device.tsx'), 'DevicePage'),
  }),
]
