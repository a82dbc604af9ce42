CREATE TABLE `openings` (
	`host_id` text NOT NULL,
	`gpu_type_id` text NOT NULL,
	`data_center_id` text NOT NULL,
	`cloud` text NOT NULL,
	`tenant` text NOT NULL,
	`gpus_free` integer NOT NULL,
	`vcpu_free` real NOT NULL,
	`free` integer NOT NULL,
	`memory_mb_free` integer NOT NULL,
	`disk_gb_free` integer NOT NULL,
	PRIMARY KEY(`host_id`, `gpu_type_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `openings_anywhere` ON `openings` (`gpu_type_id`,`cloud`,`tenant`,`gpus_free`,`vcpu_free`,`host_id`,`free`,`memory_mb_free`,`disk_gb_free`);--> statement-breakpoint
CREATE INDEX `openings_in_place` ON `openings` (`gpu_type_id`,`data_center_id`,`cloud`,`tenant`,`gpus_free`,`vcpu_free`,`host_id`,`free`,`memory_mb_free`,`disk_gb_free`);--> statement-breakpoint
-- By hand from here, and WITHOUT ROWID above. The rows of hosts that take new workloads. A host for one account at a time (HOST-85) with
-- workloads has that account as its tenant; with workloads of several it has '*', and so takes none.
CREATE VIEW `host_openings` AS WITH `open` AS (
	SELECT h.`id`, h.`data_center_id`, h.`cloud`, h.`vcpu_free`, h.`memory_mb_free`, h.`disk_gb_free`,
		CASE WHEN COALESCE(json_extract(h.`inventory`, '$.runtimes') NOT LIKE '%docker%' OR json_extract(h.`inventory`, '$.isolation.network') = 1
			OR json_extract(h.`inventory`, '$.isolation.trustedTenants') = 1, 0) THEN ''
		ELSE (SELECT CASE WHEN MIN(a.`team_id`) IS NULL THEN '' WHEN MIN(a.`team_id`) = MAX(a.`team_id`) THEN MIN(a.`team_id`) ELSE '*' END
			FROM `allocations` a WHERE a.`host_id` = h.`id`) END AS `tenant`,
		COALESCE((SELECT SUM(g.`free`) FROM `host_gpus` g WHERE g.`host_id` = h.`id`), 0) AS `gpus_free`
	FROM `hosts` h WHERE h.`status` = 'ONLINE' AND h.`cordoned_at` IS NULL AND json_extract(h.`inventory`, '$.diskProblem') IS NULL)
SELECT `id` AS `host_id`, '' AS `gpu_type_id`, `data_center_id`, `cloud`, `tenant`, `gpus_free`, `vcpu_free`, 0 AS `free`, `memory_mb_free`, `disk_gb_free`
	FROM `open`
UNION ALL SELECT `id`, g.`gpu_type_id`, `data_center_id`, `cloud`, `tenant`, `gpus_free`, `vcpu_free`, g.`free`, `memory_mb_free`, `disk_gb_free`
	FROM `open` JOIN `host_gpus` g ON g.`host_id` = `open`.`id` AND g.`free` > 0;--> statement-breakpoint
-- A row that stays the same is not written. A Worker of the release before writes through these triggers too, so the index is never behind.
CREATE TRIGGER `hosts_open` AFTER INSERT ON `hosts` BEGIN
	DELETE FROM `openings` WHERE `host_id` = NEW.`id`
		AND `gpu_type_id` NOT IN (SELECT v.`gpu_type_id` FROM `host_openings` v WHERE v.`host_id` = NEW.`id`);
	INSERT INTO `openings` SELECT v.`host_id`, v.`gpu_type_id`, v.`data_center_id`, v.`cloud`, v.`tenant`, v.`gpus_free`, v.`vcpu_free`, v.`free`, v.`memory_mb_free`, v.`disk_gb_free`
		FROM `host_openings` v WHERE v.`host_id` = NEW.`id`
		ON CONFLICT DO UPDATE SET `data_center_id` = excluded.`data_center_id`, `cloud` = excluded.`cloud`, `tenant` = excluded.`tenant`, `gpus_free` = excluded.`gpus_free`, `vcpu_free` = excluded.`vcpu_free`, `free` = excluded.`free`, `memory_mb_free` = excluded.`memory_mb_free`, `disk_gb_free` = excluded.`disk_gb_free`
		WHERE (`openings`.`data_center_id`, `openings`.`cloud`, `openings`.`tenant`, `openings`.`gpus_free`, `openings`.`vcpu_free`, `openings`.`free`, `openings`.`memory_mb_free`, `openings`.`disk_gb_free`)
			IS NOT (excluded.`data_center_id`, excluded.`cloud`, excluded.`tenant`, excluded.`gpus_free`, excluded.`vcpu_free`, excluded.`free`, excluded.`memory_mb_free`, excluded.`disk_gb_free`);
END;--> statement-breakpoint
CREATE TRIGGER `hosts_reopen` AFTER UPDATE OF `status`, `cordoned_at`, `inventory`, `data_center_id`, `cloud`, `vcpu_free`, `memory_mb_free`, `disk_gb_free` ON `hosts` BEGIN
	DELETE FROM `openings` WHERE `host_id` = NEW.`id`
		AND `gpu_type_id` NOT IN (SELECT v.`gpu_type_id` FROM `host_openings` v WHERE v.`host_id` = NEW.`id`);
	INSERT INTO `openings` SELECT v.`host_id`, v.`gpu_type_id`, v.`data_center_id`, v.`cloud`, v.`tenant`, v.`gpus_free`, v.`vcpu_free`, v.`free`, v.`memory_mb_free`, v.`disk_gb_free`
		FROM `host_openings` v WHERE v.`host_id` = NEW.`id`
		ON CONFLICT DO UPDATE SET `data_center_id` = excluded.`data_center_id`, `cloud` = excluded.`cloud`, `tenant` = excluded.`tenant`, `gpus_free` = excluded.`gpus_free`, `vcpu_free` = excluded.`vcpu_free`, `free` = excluded.`free`, `memory_mb_free` = excluded.`memory_mb_free`, `disk_gb_free` = excluded.`disk_gb_free`
		WHERE (`openings`.`data_center_id`, `openings`.`cloud`, `openings`.`tenant`, `openings`.`gpus_free`, `openings`.`vcpu_free`, `openings`.`free`, `openings`.`memory_mb_free`, `openings`.`disk_gb_free`)
			IS NOT (excluded.`data_center_id`, excluded.`cloud`, excluded.`tenant`, excluded.`gpus_free`, excluded.`vcpu_free`, excluded.`free`, excluded.`memory_mb_free`, excluded.`disk_gb_free`);
END;--> statement-breakpoint
CREATE TRIGGER `gpus_open` AFTER INSERT ON `host_gpus` BEGIN
	DELETE FROM `openings` WHERE `host_id` = NEW.`host_id`
		AND `gpu_type_id` NOT IN (SELECT v.`gpu_type_id` FROM `host_openings` v WHERE v.`host_id` = NEW.`host_id`);
	INSERT INTO `openings` SELECT v.`host_id`, v.`gpu_type_id`, v.`data_center_id`, v.`cloud`, v.`tenant`, v.`gpus_free`, v.`vcpu_free`, v.`free`, v.`memory_mb_free`, v.`disk_gb_free`
		FROM `host_openings` v WHERE v.`host_id` = NEW.`host_id`
		ON CONFLICT DO UPDATE SET `data_center_id` = excluded.`data_center_id`, `cloud` = excluded.`cloud`, `tenant` = excluded.`tenant`, `gpus_free` = excluded.`gpus_free`, `vcpu_free` = excluded.`vcpu_free`, `free` = excluded.`free`, `memory_mb_free` = excluded.`memory_mb_free`, `disk_gb_free` = excluded.`disk_gb_free`
		WHERE (`openings`.`data_center_id`, `openings`.`cloud`, `openings`.`tenant`, `openings`.`gpus_free`, `openings`.`vcpu_free`, `openings`.`free`, `openings`.`memory_mb_free`, `openings`.`disk_gb_free`)
			IS NOT (excluded.`data_center_id`, excluded.`cloud`, excluded.`tenant`, excluded.`gpus_free`, excluded.`vcpu_free`, excluded.`free`, excluded.`memory_mb_free`, excluded.`disk_gb_free`);
END;--> statement-breakpoint
CREATE TRIGGER `gpus_reopen` AFTER UPDATE ON `host_gpus` BEGIN
	DELETE FROM `openings` WHERE `host_id` = NEW.`host_id`
		AND `gpu_type_id` NOT IN (SELECT v.`gpu_type_id` FROM `host_openings` v WHERE v.`host_id` = NEW.`host_id`);
	INSERT INTO `openings` SELECT v.`host_id`, v.`gpu_type_id`, v.`data_center_id`, v.`cloud`, v.`tenant`, v.`gpus_free`, v.`vcpu_free`, v.`free`, v.`memory_mb_free`, v.`disk_gb_free`
		FROM `host_openings` v WHERE v.`host_id` = NEW.`host_id`
		ON CONFLICT DO UPDATE SET `data_center_id` = excluded.`data_center_id`, `cloud` = excluded.`cloud`, `tenant` = excluded.`tenant`, `gpus_free` = excluded.`gpus_free`, `vcpu_free` = excluded.`vcpu_free`, `free` = excluded.`free`, `memory_mb_free` = excluded.`memory_mb_free`, `disk_gb_free` = excluded.`disk_gb_free`
		WHERE (`openings`.`data_center_id`, `openings`.`cloud`, `openings`.`tenant`, `openings`.`gpus_free`, `openings`.`vcpu_free`, `openings`.`free`, `openings`.`memory_mb_free`, `openings`.`disk_gb_free`)
			IS NOT (excluded.`data_center_id`, excluded.`cloud`, excluded.`tenant`, excluded.`gpus_free`, excluded.`vcpu_free`, excluded.`free`, excluded.`memory_mb_free`, excluded.`disk_gb_free`);
END;--> statement-breakpoint
CREATE TRIGGER `gpus_close` AFTER DELETE ON `host_gpus` BEGIN
	DELETE FROM `openings` WHERE `host_id` = OLD.`host_id`
		AND `gpu_type_id` NOT IN (SELECT v.`gpu_type_id` FROM `host_openings` v WHERE v.`host_id` = OLD.`host_id`);
	INSERT INTO `openings` SELECT v.`host_id`, v.`gpu_type_id`, v.`data_center_id`, v.`cloud`, v.`tenant`, v.`gpus_free`, v.`vcpu_free`, v.`free`, v.`memory_mb_free`, v.`disk_gb_free`
		FROM `host_openings` v WHERE v.`host_id` = OLD.`host_id`
		ON CONFLICT DO UPDATE SET `data_center_id` = excluded.`data_center_id`, `cloud` = excluded.`cloud`, `tenant` = excluded.`tenant`, `gpus_free` = excluded.`gpus_free`, `vcpu_free` = excluded.`vcpu_free`, `free` = excluded.`free`, `memory_mb_free` = excluded.`memory_mb_free`, `disk_gb_free` = excluded.`disk_gb_free`
		WHERE (`openings`.`data_center_id`, `openings`.`cloud`, `openings`.`tenant`, `openings`.`gpus_free`, `openings`.`vcpu_free`, `openings`.`free`, `openings`.`memory_mb_free`, `openings`.`disk_gb_free`)
			IS NOT (excluded.`data_center_id`, excluded.`cloud`, excluded.`tenant`, excluded.`gpus_free`, excluded.`vcpu_free`, excluded.`free`, excluded.`memory_mb_free`, excluded.`disk_gb_free`);
END;--> statement-breakpoint
INSERT INTO `openings` SELECT `host_id`, `gpu_type_id`, `data_center_id`, `cloud`, `tenant`, `gpus_free`, `vcpu_free`, `free`, `memory_mb_free`, `disk_gb_free` FROM `host_openings`;
