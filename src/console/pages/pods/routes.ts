import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../app/root.tsx'

const parent = () => shellRoute

export const podRoutes = [
  createRoute({ getParentRoute: parent, path: '/console/pods', component: lazyRouteComponent(() => import('./pods.tsx'), 'PodsPage') }),
]
