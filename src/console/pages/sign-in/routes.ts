import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute, shellRoute } from '../../shell/root.tsx'
import { SignInPage } from './sign-in-page.tsx'

export const signInRoutes = [createRoute({ getParentRoute: () => rootRoute, path: '/console/sign-in', component: SignInPage })]

/** A child of the shell, so that a user signs in before they approve a device. */
export const deviceRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/console/device',
    component: lazyRouteComponent(() => import('./device.tsx'), 'DevicePage'),
  }),
]
