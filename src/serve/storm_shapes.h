/* The shapes of Storm's answers (serve/shape.h): the fields of its UI's REST, by its names and of its types. */
#ifndef GX_SERVE_STORM_SHAPES_H
#define GX_SERVE_STORM_SHAPES_H

#define GX_STORM_SHAPE_CLUSTER                                                                                         \
    "{user:s, stormVersion:s, supervisors:i, topologies:i, slotsTotal:i, slotsUsed:i, slotsFree:i, executorsTotal:i, " \
    "tasksTotal:i, totalMem:n, totalCpu:n, availMem:n, availCpu:n, fragmentedMem:n, fragmentedCpu:n, "                 \
    "memAssignedPercentUtil:s, cpuAssignedPercentUtil:s, schedulerDisplayResource:b}"

#define GX_STORM_SHAPE_NIMBUS                                                                                          \
    "{nimbuses:[{host:s, port:i, status:s, version:s, nimbusUpTime:s, nimbusUpTimeSeconds:s, nimbusLogLink:s}]}"

#define GX_STORM_SHAPE_SUPERVISORS                                                                                     \
    "supervisors:[{id:s, host:s, uptime:s, uptimeSeconds:i, slotsTotal:i, slotsUsed:i, slotsFree:i, totalMem:n, "      \
    "totalCpu:n, availMem:n, availCpu:n, usedMem:n, usedCpu:n, logLink:s, version:s, blacklisted:b}], "                \
    "schedulerDisplayResource:b, logviewerPort:i, logviewerScheme:s"

#define GX_STORM_SHAPE_WORKERS                                                                                         \
    "workers:[{supervisorId:s, host:s, port:i, topologyId:s, topologyName:s, executorsTotal:i, assignedMemOnHeap:n, "  \
    "assignedMemOffHeap:n, assignedCpu:n, componentNumTasks:{*:i}, uptime:s, uptimeSeconds:i, workerLogLink:s, "       \
    "owner:s}]"

#define GX_STORM_SHAPE_OWNERS                                                                                          \
    "{owners:[{owner:s, totalTopologies:i, totalExecutors:i, totalWorkers:i, totalTasks:i, totalMemoryUsage:n, "       \
    "totalCpuUsage:n, memoryGuarantee:s, cpuGuarantee:s, memoryGuaranteeRemaining:s, cpuGuaranteeRemaining:s, "        \
    "isolatedNodes:s, totalReqOnHeapMem:n, totalReqOffHeapMem:n, totalReqMem:n, totalReqCpu:n, "                       \
    "totalAssignedOnHeapMem:n, totalAssignedOffHeapMem:n}], schedulerDisplayResource:b}"

#define GX_STORM_SHAPE_SUMMARY                                                                                         \
    "id:s, encodedId:s, owner:s, name:s, status:s, uptime:s, uptimeSeconds:i, tasksTotal:i, workersTotal:i, "          \
    "executorsTotal:i, replicationCount:i, schedulerInfo:s?, requestedMemOnHeap:n, requestedMemOffHeap:n, "            \
    "requestedTotalMem:n, requestedCpu:n, assignedMemOnHeap:n, assignedMemOffHeap:n, assignedTotalMem:n, "             \
    "assignedCpu:n, topologyVersion:s?, stormVersion:s"

#define GX_STORM_SHAPE_COMMON                                                                                          \
    "executors:i, tasks:i, emitted:i, transferred:i, acked:i, failed:i, requestedMemOnHeap:n, requestedMemOffHeap:n, " \
    "requestedCpu:n, lastError:s, errorHost:s, errorPort:i?, errorTime:i?, errorLapsedSecs:i?, errorWorkerLogLink:s"

#define GX_STORM_SHAPE_TOPOLOGY                                                                                        \
    "{" GX_STORM_SHAPE_SUMMARY ", user:s, window:s, windowHint:s, msgTimeout:i, schedulerDisplayResource:b, "          \
    "topologyStats:[{windowPretty:s, window:s, emitted:i, transferred:i, completeLatency:s, acked:i, failed:i}], "     \
    "spouts:[{spoutId:s, encodedSpoutId:s, completeLatency:s, " GX_STORM_SHAPE_COMMON "}], "                           \
    "bolts:[{boltId:s, encodedBoltId:s, capacity:s, executeLatency:s, executed:i, "                                    \
    "processLatency:s, " GX_STORM_SHAPE_COMMON "}], " GX_STORM_SHAPE_WORKERS                                           \
    ", configuration:{*:?}, debug:b, samplingPct:n, "                                                                  \
    "visualizationTable:[?]}"

#define GX_STORM_SHAPE_OUT(type) "[{stream_id:s, value:" type "}]"
#define GX_STORM_SHAPE_IN(type) "[{component_id:s, stream_id:s, value:" type "}]"

#define GX_STORM_SHAPE_METRICS                                                                                                                                                                                                                                                                \
    "{window:s, window-hint:s, spouts:[{id:s, emitted:" GX_STORM_SHAPE_OUT("i") ", transferred:" GX_STORM_SHAPE_OUT("i") ", acked:" GX_STORM_SHAPE_OUT("i") ", failed:" GX_STORM_SHAPE_OUT("i") ", complete_ms_avg:" GX_STORM_SHAPE_OUT("s") "}], bolts:[{id:s, emitted:" GX_STORM_SHAPE_OUT( \
        "i") ", transferred:" GX_STORM_SHAPE_OUT("i") ", acked:" GX_STORM_SHAPE_IN("i") ", failed:" GX_STORM_SHAPE_IN("i") ", process_ms_avg:" GX_STORM_SHAPE_IN("s") ", executed:" GX_STORM_SHAPE_IN("i") ", executed_ms_avg:" GX_STORM_SHAPE_IN("s") "}]}"

/* Of a spout and of a bolt: `kind` has what differs. */
#define GX_STORM_SHAPE_PAGE(kind)                                                                                      \
    "{user:s, id:s, encodedId:s, name:s, componentType:s, executors:i, tasks:i, requestedMemOnHeap:n, "                \
    "requestedMemOffHeap:n, requestedCpu:n, schedulerDisplayResource:b, topologyId:s, encodedTopologyId:s, "           \
    "topologyStatus:s, window:s, windowHint:s, debug:b, samplingPct:n, eventLogLink:s, "                               \
    "profilingAndDebuggingCapable:b, profileActionEnabled:b, profilerActive:[?], "                                     \
    "componentErrors:[{errorTime:i, errorHost:s, errorPort:i, errorWorkerLogLink:s, errorLapsedSecs:i, "               \
    "error:s}], " kind "}"

#define GX_STORM_SHAPE_EXECUTOR                                                                                        \
    "id:s, encodedId:s, uptime:s, uptimeSeconds:i, host:s, port:i, emitted:i, transferred:i, acked:i, failed:i, "      \
    "workerLogLink:s"

#define GX_STORM_SHAPE_BOLT_FIGURES "executeLatency:s, executed:i, processLatency:s, capacity:s"

#define GX_STORM_SHAPE_SPOUT                                                                                           \
    GX_STORM_SHAPE_PAGE(                                                                                               \
        "spoutSummary:[{window:s, windowPretty:s, emitted:i, transferred:i, acked:i, failed:i, completeLatency:s}], "  \
        "outputStats:[{stream:s, emitted:i, transferred:i, completeLatency:s, acked:i, failed:i}], "                   \
        "executorStats:[{" GX_STORM_SHAPE_EXECUTOR ", completeLatency:s}]")

#define GX_STORM_SHAPE_BOLT                                                                                            \
    GX_STORM_SHAPE_PAGE(                                                                                               \
        "boltStats:[{window:s, windowPretty:s, emitted:i, transferred:i, acked:i, "                                    \
        "failed:i, " GX_STORM_SHAPE_BOLT_FIGURES                                                                       \
        "}], inputStats:[{component:s, encodedComponentId:s, stream:s, executeLatency:s, "                             \
        "processLatency:s, executed:i, acked:i, failed:i}], outputStats:[{stream:s, emitted:i, transferred:i}], "      \
        "executorStats:[{" GX_STORM_SHAPE_EXECUTOR ", " GX_STORM_SHAPE_BOLT_FIGURES "}]")

#define GX_STORM_SHAPE_VISUALIZATION                                                                                   \
    "{*:{:type:s, :capacity:n, :latency:n, :transferred:{*:i}, :stats:[{:host:s, :port:i, :uptime_secs:i, "            \
    ":transferred:{*:{*:i}}}], :link:s, :inputs:[{:component:s, :stream:s, :sani-stream:s, :grouping:s}]}}"

#define GX_STORM_SHAPE_DONE "{topologyOperation:s, topologyId:s, status:s}"

#define GX_STORM_SHAPE_LOGCONFIG "{namedLoggerLevels:{*:{target_level:s, reset_level:s, timeout:i, timeout_epoch:i?}}}"

#endif
