CREATE TABLE `volume_hosts` (
	`volume_id` text NOT NULL,
	`host_id` text NOT NULL,
	`mounted_at` integer,
	`wiped_at` integer,
	PRIMARY KEY(`volume_id`, `host_id`)
);
--> statement-breakpoint
CREATE INDEX `volume_hosts_held` ON `volume_hosts` (`host_id`) WHERE "volume_hosts"."wiped_at" IS NULL;--> statement-breakpoint
-- By hand from here. Each pod's host has its volumes from the statement on that places it there, also one of a Worker of the release before (EDG-1).
CREATE TRIGGER `pods_mount_network` AFTER INSERT ON `pods` WHEN NEW.`network_volume_id` IS NOT NULL BEGIN
	INSERT INTO `volume_hosts` VALUES (NEW.`network_volume_id`, NEW.`host_id`, NEW.`changed_at`, NULL)
	ON CONFLICT DO UPDATE SET `mounted_at` = COALESCE(`mounted_at`, excluded.`mounted_at`);
END;--> statement-breakpoint
CREATE TRIGGER `pods_mount_global` AFTER INSERT ON `pods` WHEN NEW.`global_volume_id` IS NOT NULL BEGIN
	INSERT INTO `volume_hosts` VALUES (NEW.`global_volume_id`, NEW.`host_id`, NEW.`changed_at`, NULL)
	ON CONFLICT DO UPDATE SET `mounted_at` = COALESCE(`mounted_at`, excluded.`mounted_at`);
END;--> statement-breakpoint
CREATE TRIGGER `pods_move_network` AFTER UPDATE ON `pods` WHEN NEW.`network_volume_id` IS NOT NULL
	AND (NEW.`host_id` <> OLD.`host_id` OR NEW.`network_volume_id` IS NOT OLD.`network_volume_id`) BEGIN
	INSERT INTO `volume_hosts` VALUES (NEW.`network_volume_id`, NEW.`host_id`, NEW.`changed_at`, NULL)
	ON CONFLICT DO UPDATE SET `mounted_at` = COALESCE(`mounted_at`, excluded.`mounted_at`);
END;--> statement-breakpoint
CREATE TRIGGER `pods_move_global` AFTER UPDATE ON `pods` WHEN NEW.`global_volume_id` IS NOT NULL
	AND (NEW.`host_id` <> OLD.`host_id` OR NEW.`global_volume_id` IS NOT OLD.`global_volume_id`) BEGIN
	INSERT INTO `volume_hosts` VALUES (NEW.`global_volume_id`, NEW.`host_id`, NEW.`changed_at`, NULL)
	ON CONFLICT DO UPDATE SET `mounted_at` = COALESCE(`mounted_at`, excluded.`mounted_at`);
END;--> statement-breakpoint
-- Mounts of before: of pods that are known, and of workers that have a place.
INSERT INTO `volume_hosts` SELECT `network_volume_id`, `host_id`, MIN(`created_at`), NULL FROM `pods` WHERE `network_volume_id` IS NOT NULL GROUP BY 1, 2;--> statement-breakpoint
INSERT INTO `volume_hosts` SELECT `global_volume_id`, `host_id`, MIN(`created_at`), NULL FROM `pods` WHERE `global_volume_id` IS NOT NULL GROUP BY 1, 2;--> statement-breakpoint
INSERT OR IGNORE INTO `volume_hosts` SELECT v.`value`, a.`host_id`, MIN(a.`created_at`), NULL FROM `allocations` a
	JOIN `hosts` h ON h.`id` = a.`host_id` JOIN `endpoints` e ON e.`id` = a.`owner_id`, json_each(e.`config`, '$.volumeAt') v
	WHERE a.`kind` = 'worker' AND v.`key` = h.`data_center_id` GROUP BY 1, 2;--> statement-breakpoint
-- Other hosts may hold a copy of what was written before this was noted: they are asked to wipe it, and believed in nothing else.
INSERT OR IGNORE INTO `volume_hosts` SELECT v.`id`, h.`id`, NULL, NULL FROM `network_volumes` v JOIN `hosts` h ON h.`data_center_id` = v.`data_center_id`
	WHERE v.`used_at` IS NOT NULL AND h.`status` <> 'REMOVED';--> statement-breakpoint
INSERT OR IGNORE INTO `volume_hosts` SELECT v.`id`, h.`id`, NULL, NULL FROM `global_volumes` v JOIN `hosts` h
	WHERE v.`used_at` IS NOT NULL AND h.`status` <> 'REMOVED';--> statement-breakpoint
INSERT OR IGNORE INTO `volume_hosts` SELECT t.`volume_id`, h.`id`, NULL, NULL FROM `volume_tombstones` t JOIN `hosts` h
	WHERE COALESCE(t.`data_center_id`, h.`data_center_id`) = h.`data_center_id` AND h.`status` <> 'REMOVED';
