import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const operatorRoutes = [
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/hosts',
    component: lazyRouteComponent(() => import('./hosts.tsx'), 'HostsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/hosts/$id',
    component: lazyRouteComponent(() => import('./host.tsx'), 'HostPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/add-machine',
    component: lazyRouteComponent(() => import('./add-machine.tsx'), 'AddMachinePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/accounts',
    component: lazyRouteComponent(() => import('./accounts.tsx'), 'AccountsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/accounts/$id',
    component: lazyRouteComponent(() => import('./account/account.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/catalog',
    component: lazyRouteComponent(() => import('./catalog/catalog.tsx'), 'CatalogPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/plane',
    component: lazyRouteComponent(() => import('./plane.tsx'), 'PlanePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/operator/waiting',
    component: lazyRouteComponent(() => import('./waiting.tsx'), 'WaitingPage'),
  }),
]
